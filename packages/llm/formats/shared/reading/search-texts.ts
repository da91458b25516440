import type { Json, JsonObject } from '../../../json/json-value.ts'

/** What is looked at in a step: characters of texts, and for each value and each name that is looked up as many as these. */
const STEP_CHARS = 65_536
const VALUE_CHARS = 20
const NAME_CHARS = 80

/** Says when a step of a search ends. */
class Steps {
  #chars = 0

  /** Counts what was looked at. Returns true if that ends the step. */
  endsWith(chars: number): boolean {
    this.#chars += chars
    if (this.#chars < STEP_CHARS) return false
    this.#chars = 0
    return true
  }
}

/**
 * Returns true if `isFound` holds for a text at any depth of a value, or `isNamed` for the name of a field that is not null. Does so in steps,
 * since a body may have 32 MiB in texts that are slow to look at, such as blanks before an address, and 60,000 names in one object.
 */
export function* searchTexts(
  value: Json | undefined,
  isFound: (text: string) => boolean,
  isNamed?: (name: string) => boolean,
): Generator<void, boolean> {
  if (typeof value === 'string') return isFound(value)
  const steps = new Steps()
  const waiting: (Json[] | JsonObject)[] = []
  if (typeof value === 'object' && value !== null) waiting.push(value)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const names = Array.isArray(next) ? undefined : Object.keys(next)
    const count = Array.isArray(next) ? next.length : (names?.length ?? 0)
    for (let at = 0; at < count; at++) {
      const name = names?.[at]
      // Not by Object.values, which takes 16 ms for 60,000 fields, twice what their names take.
      const inner = name === undefined ? (next as Json[])[at] : (next as JsonObject)[name]
      if (inner === null || inner === undefined) continue
      if (name !== undefined && isNamed?.(name)) return true
      let chars = isNamed === undefined ? VALUE_CHARS : NAME_CHARS + (name?.length ?? 0)
      if (typeof inner === 'string') {
        if (isFound(inner)) return true
        chars += inner.length
      } else if (typeof inner === 'object') waiting.push(inner)
      if (steps.endsWith(chars)) yield
    }
  }
  return false
}

/** Returns true if `isNamed` holds for the name of a field that is not null. Does so in steps. */
export function* searchNames(
  fields: JsonObject,
  isNamed: (name: string) => boolean,
): Generator<void, boolean> {
  const steps = new Steps()
  for (const name in fields) {
    const value = fields[name]
    if (value === null || value === undefined) continue
    if (isNamed(name)) return true
    if (steps.endsWith(NAME_CHARS + name.length)) yield
  }
  return false
}
