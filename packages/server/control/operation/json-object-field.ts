import { isStorable } from '../../core/records/storable-json.ts'
import { z } from './zod.ts'

/** A JSON object that the caller defines, stored as jsonb. */
export const jsonObjectField = z
  .record(z.string(), z.unknown())
  .refine(isStorable, 'must be plain JSON without NUL')
