import { z } from '../operation/zod.ts'
import { keyFields } from './key-body.ts'

const MAX_OVERLAP_HOURS = 72

export const KeyRoll = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_HOURS * 3600)
      .nullish(),
    overlap_hours: z.number().min(0).max(MAX_OVERLAP_HOURS).nullish(),
  })
  .optional()
  .meta({ id: 'KeyRoll' })

export const KeyChanges = z.strictObject(keyFields).partial().meta({ id: 'KeyChanges' })
