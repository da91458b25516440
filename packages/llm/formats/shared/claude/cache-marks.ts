import type { Json } from '../../../json/json-value.ts'

/** Fields by which a format asks for input to be cached. */
const MARKS: ReadonlySet<string> = new Set(['cache_control', 'cachePoint'])

/**
 * Returns true if a mark of caching stands anywhere in a value that a provider gets unread. Where the gateway reads the value, its
 * parser looks at the places that the format has for a mark.
 */
export function hasCacheMark(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasCacheMark)
  for (const name in value) {
    const inner = value[name]
    if (inner !== null && (MARKS.has(name) || hasCacheMark(inner))) return true
  }
  return false
}
