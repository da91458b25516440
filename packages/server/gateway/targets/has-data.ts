import { PIECE_CHARS } from '@rideau/llm/formats/shared/reading/names-content'
import type { Json } from '@rideau/llm/json/json-value'

/** True if a text at any depth of a value begins like this, such as a data URL of some kind, or may do so behind many blanks. */
export function hasData(value: Json | undefined, kind: Pick<RegExp, 'test'>): boolean {
  if (typeof value === 'string') {
    const head = value.slice(0, PIECE_CHARS)
    return kind.test(head) || (head.length === PIECE_CHARS && head.trim() === '')
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(each => hasData(each, kind))
}
