import type { Json } from '../../../json/json-value.ts'

/** What is looked at in a step: characters of texts, and for each value as many as these. */
const STEP_CHARS = 65_536
const VALUE_CHARS = 20

const none = (): boolean => false

/**
 * Returns true if `isFound` holds for a text at any depth of a value, or `isNamed` for the name of a field that is not null. Does so in steps,
 * since a body may have 32 MiB in texts that are slow to look at, such as blanks before an address.
 */
export function* searchTexts(
  value: Json | undefined,
  isFound: (text: string) => boolean,
  isNamed: (name: string) => boolean = none,
): Generator<void, boolean> {
  if (typeof value === 'string') return isFound(value)
  const waiting: object[] = []
  if (typeof value === 'object' && value !== null) waiting.push(value)
  let chars = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!Array.isArray(next) && namesAny(next as Record<string, Json>, isNamed)) return true
    for (const inner of Object.values(next)) {
      chars += VALUE_CHARS
      if (typeof inner === 'string') {
        if (isFound(inner)) return true
        chars += inner.length
      } else if (typeof inner === 'object' && inner !== null) waiting.push(inner)
      if (chars < STEP_CHARS) continue
      chars = 0
      yield
    }
  }
  return false
}

function namesAny(fields: Record<string, Json | undefined>, isNamed: (name: string) => boolean): boolean {
  if (isNamed === none) return false
  for (const name in fields) {
    const value = fields[name]
    if (value !== null && value !== undefined && isNamed(name)) return true
  }
  return false
}
