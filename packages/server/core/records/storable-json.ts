/** True for a JSON value that jsonb can hold: it rejects NUL, lone surrogates and numbers outside a double's range. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return /^[^\0\p{Cs}]*$/u.test(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item))
}
