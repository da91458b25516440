import { z } from './zod.ts'

/** A JSON object that the caller defines, stored as jsonb. */
export const jsonObjectField = z
  .record(z.string(), z.unknown())
  .refine(isStorable, 'must be plain JSON without NUL')

/** jsonb rejects NUL, lone surrogates and numbers outside a double's range. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return /^[^\0\p{Cs}]*$/u.test(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item))
}
