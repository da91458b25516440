/**
 * The entries as an object without a prototype: a word that none of them has finds nothing, also where every object has
 * something of that name (`constructor`, `__proto__`). For look-ups by words that others chose.
 */
export function toTable<T extends object>(entries: T): T {
  return Object.assign(Object.create(null) as T, entries)
}
