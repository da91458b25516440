import { Base64Texts } from '../../../json/base64-texts.ts'
import type { Json } from '../../../json/json-value.ts'
import { allTextsLeft, namesUnreadContent, type TextsLeft } from './names-content.ts'

/** What a parser of messages notes besides the messages themselves. */
export interface MessageNotes {
  /** Paths of parts that no other format has a place for. */
  readonly nativeOnly: string[]
  /** Paths of those that name content which is not in the body (names-content.ts). */
  readonly unmeasured: string[]
  /** One number for all parts, so that a body of many has a bound. */
  readonly textsLeft: TextsLeft
  /** One for all texts in base64, likewise. */
  readonly base64Texts: Base64Texts
  /** A mark of prompt caching stands at a place that the format has for it. */
  asksForCaching: boolean
  /** A tool-call id carries reasoning that the gateway packed into it, or reasoning has the gateway's mark of another provider. */
  carriesReasoning: boolean
}

/** Notes a part that no other format has a place for. */
export function noteUnread(
  part: Json,
  path: string,
  { nativeOnly, unmeasured, textsLeft }: MessageNotes,
): void {
  nativeOnly.push(path)
  if (namesUnreadContent(part, textsLeft)) unmeasured.push(path)
}

export function noMessageNotes(nativeOnly: string[] = []): MessageNotes {
  return {
    nativeOnly,
    unmeasured: [],
    textsLeft: allTextsLeft(),
    base64Texts: new Base64Texts(),
    asksForCaching: false,
    carriesReasoning: false,
  }
}
