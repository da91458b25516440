import type { Json } from '@rideau/llm/json/json-value'

/** Characters that are read of a text. */
const HEAD = 10_000

/** True if a text at any depth of a value begins like this, such as a data URL of some kind, or may do so behind many blanks. */
export function hasData(value: Json | undefined, kind: Pick<RegExp, 'test'>): boolean {
  if (typeof value === 'string') {
    const head = value.slice(0, HEAD)
    return kind.test(head) || (head.length === HEAD && head.trim() === '')
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(each => hasData(each, kind))
}
