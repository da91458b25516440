import { PIECE_CHARS } from '@rideau/llm/formats/shared/reading/names-content'
import { searchTexts } from '@rideau/llm/formats/shared/reading/search-texts'
import type { Json } from '@rideau/llm/json/json-value'
import { runAtOnce } from '@rideau/llm/json/run-at-once'

/** True if a text at any depth of a value begins like this, such as a data URL of some kind, or may do so behind many blanks. */
export function hasData(value: Json | undefined, kind: RegExp): boolean {
  return runAtOnce(searchData(value, head => kind.test(head)))
}

/** Does as hasData in short steps. `isOfKind` gets the beginning of a text. */
export function searchData(
  value: Json | undefined,
  isOfKind: (head: string) => boolean,
): Generator<void, boolean> {
  return searchTexts(value, text => {
    const head = text.slice(0, PIECE_CHARS)
    return isOfKind(head) || (head.length === PIECE_CHARS && head.trim() === '')
  })
}
