/**
 * Returns the entries as an object without a prototype, so that a look-up by `constructor` or `__proto__` finds nothing.
 * Use it for every table that is indexed by a string from outside.
 */
export function toTable<T extends object>(entries: T): T {
  return Object.assign(Object.create(null) as T, entries)
}
