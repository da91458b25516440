import type { JsonObject } from '../../json/json-value.ts'

/** What the sandbox does with a request, in OpenAI's wire format. Whoever carries it out keeps the time. */
export type SandboxAnswer =
  | {
      readonly kind: 'reply'
      readonly delayMs: number
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: JsonObject
    }
  | {
      readonly kind: 'stream'
      readonly delayMs: number
      /** Payloads of server-sent events, in order. */
      readonly events: readonly string[]
      /** True if the connection breaks after the chunks instead of ending. */
      readonly isCut: boolean
    }
  /** The connection breaks in the middle of a plain answer. */
  | { readonly kind: 'cut'; readonly delayMs: number; readonly body: string }
  /** No answer ever comes. Reported as a time-out at once. */
  | { readonly kind: 'timeout' }

const JSON_HEADERS = { 'content-type': 'application/json' }

/** Answers 200 with this body after `delayMs` milliseconds. */
export function reply(body: JsonObject, delayMs = 0): SandboxAnswer {
  return { kind: 'reply', delayMs, status: 200, headers: JSON_HEADERS, body }
}

/** Answers an error in OpenAI's shape. */
export function errorReply(
  status: number,
  type: string,
  message: string,
  code: string | null = null,
): SandboxAnswer {
  const body = { error: { message, type, param: null, code } }
  return { kind: 'reply', delayMs: 0, status, headers: JSON_HEADERS, body }
}
