import type { Json } from '../../../json/json-value.ts'
import type { UpstreamError } from '../../../upstream/upstream-error.ts'
import { classifyError } from './classify-error.ts'
import { readErrorWords } from './error-words.ts'
import { findRetryAfterMs, type ReplyHeaders } from './retry-after.ts'

/** Longest piece of a provider's words that goes to the log. */
const MAX_DETAIL = 500
/** The longest message that callers may see. It is cut further after its secrets were removed, so that no part of one is left. */
const MAX_MESSAGE = 8_000

/** An answer that is not 2xx, by its cause. `body` as received: JSON under any content type, HTML, text or nothing. */
export function decodeError(status: number, headers: ReplyHeaders, body: string): UpstreamError {
  return decodeErrorBody(status, headers, parseErrorText(body))
}

/** JSON under any content type, else the text without white space around it. */
export function parseErrorText(body: string): Json {
  try {
    return JSON.parse(body) as Json
  } catch {
    return body.trim()
  }
}

/** `status` undefined: of a frame of a stream. */
export type DecodeErrorBody = (status: number | undefined, headers: ReplyHeaders, body: Json) => UpstreamError

/** Decodes the error in a body that is already parsed. A frame of a stream has no status of its own. */
export const decodeErrorBody: DecodeErrorBody = (status, headers, body) => {
  const words = readErrorWords(body)
  // A 200 that carries an error tells the true status in its body, if anywhere.
  const effective = status === undefined || status < 400 ? words.status : status
  const retryAfterMs = findRetryAfterMs(headers, words)
  const shouldRetry = headers['x-should-retry']
  const { text } = words
  return {
    kind: classifyError(effective, words),
    ...(effective === undefined ? {} : { status: effective }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(shouldRetry === 'true' || shouldRetry === 'false' ? { shouldRetry: shouldRetry === 'true' } : {}),
    detail: [...words.names, words.message]
      .filter(word => word !== '')
      .join(': ')
      .slice(0, MAX_DETAIL),
    ...(text === undefined ? {} : { message: text.slice(0, MAX_MESSAGE) }),
  }
}
