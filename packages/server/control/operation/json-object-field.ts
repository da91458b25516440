import { z } from './zod.ts'

/** An object of the caller's own, kept as jsonb. */
export const jsonObjectField = z
  .record(z.string(), z.unknown())
  .refine(isStorable, 'must be plain JSON without NUL')

/** jsonb takes neither NUL nor half of a surrogate pair, and no number past a double's range is JSON's. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return /^[^\0\p{Cs}]*$/u.test(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item))
}
