import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ReasoningDetail } from './spec.ts'

/**
 * Some providers refuse a tool's result unless the reasoning that led to the call comes back with its signature. Many
 * clients drop every field that OpenAI's format does not have, but each sends a tool call's id back as it got it: the
 * state travels in the id, so that no memory of ours is needed and any gateway process can read it.
 */
export const CARRIER_MARK = '__rd1__'
const MARK = CARRIER_MARK
/** A caller can send any id: what it unpacks to is bounded. */
const MAX_DETAILS_BYTES = 512 * 1024

const NOTHING: readonly ReasoningDetail[] = []

/** The id with the reasoning that belongs to the call: letters, digits, `_` and `-` only, as the id itself. */
export function packToolCallId(id: string, details: readonly ReasoningDetail[]): string {
  if (details.length === 0) return id
  const bytes = Buffer.from(JSON.stringify(details))
  if (bytes.length > MAX_DETAILS_BYTES) return id
  return `${id}${MARK}${deflateRawSync(bytes).toString('base64url')}`
}

/** The provider's own id, and what packToolCallId put beside it. An id that somebody else marked carries nothing. */
export function unpackToolCallId(packed: string): {
  readonly id: string
  readonly details: readonly ReasoningDetail[]
} {
  const at = packed.lastIndexOf(MARK)
  if (at < 0) return { id: packed, details: NOTHING }
  const id = packed.slice(0, at)
  try {
    const bytes = inflateRawSync(Buffer.from(packed.slice(at + MARK.length), 'base64url'), {
      maxOutputLength: MAX_DETAILS_BYTES,
    })
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return { id, details: Array.isArray(value) ? value.filter(isDetail) : NOTHING }
  } catch {
    return { id, details: NOTHING }
  }
}

/** The id as the provider gave it. */
export function plainToolCallId(packed: string): string {
  const at = packed.lastIndexOf(MARK)
  return at < 0 ? packed : packed.slice(0, at)
}

const TEXTS = ['text', 'summary', 'signature', 'data', 'id'] as const

function isDetail(value: unknown): value is ReasoningDetail {
  if (typeof value !== 'object' || value === null) return false
  const detail = value as Record<string, unknown>
  return (
    typeof detail.type === 'string' &&
    typeof detail.format === 'string' &&
    TEXTS.every(name => detail[name] === undefined || typeof detail[name] === 'string')
  )
}

/**
 * The reasoning of an assistant's message that one provider family made: from the message itself where the client kept
 * it, else from the ids of its tool calls. What others made is left out: a foreign signature is refused.
 */
export function findReasoningDetails(
  message: { readonly [field: string]: unknown },
  format: ReasoningDetail['format'],
): readonly ReasoningDetail[] {
  const isOurs = (detail: ReasoningDetail): boolean => detail.format === format
  const kept = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isDetail) : NOTHING
  if (kept.some(isOurs)) return kept.filter(isOurs)
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  return calls.flatMap((call: { id?: unknown } | null) =>
    typeof call?.id === 'string' ? unpackToolCallId(call.id).details.filter(isOurs) : [],
  )
}
