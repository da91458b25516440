import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CallBudget } from '../../../reply/call-budget.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'

/**
 * Some providers refuse a tool's result unless the reasoning that led to the call comes back with its signature. Many
 * clients drop every field that OpenAI's format does not have, but each sends a tool call's id back as it got it: the
 * state travels in the id, so that the gateway needs no memory and any gateway process can read it.
 */
export const CARRIER_MARK = '__rd1__'
const MARK = CARRIER_MARK
/** A caller can send any id: what it unpacks to is bounded, in all and by its own length. */
const MAX_DETAILS_BYTES = 512 * 1024
const MAX_RATIO = 8

const NOTHING: readonly ReasoningDetail[] = []

/** The id with the reasoning that belongs to the call: letters, digits, `_` and `-` only, as the id itself. */
export function packToolCallId(id: string, details: readonly ReasoningDetail[]): string {
  return details.length === 0 || isTooLong(details) ? id : packText(id, JSON.stringify(details))
}

/** Returns true if the texts alone are longer than what an id carries: encoding 64 MiB to find that would take long. */
function isTooLong(details: readonly ReasoningDetail[]): boolean {
  let left = MAX_DETAILS_BYTES
  for (const detail of details) for (const name of TEXTS) left -= detail[name]?.length ?? 0
  return left < 0
}

/** The id with a text; the id alone where the text is too long. */
export function packText(id: string, text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length > MAX_DETAILS_BYTES) return id
  const packed = deflateRawSync(bytes)
  // Unpacking refuses data that compresses this well, so such data is stored without compression.
  const isTooSmall = bytes.length > packed.length * MAX_RATIO
  return `${id}${MARK}${(isTooSmall ? deflateRawSync(bytes, { level: 0 }) : packed).toString('base64url')}`
}

/** The JSON text that an id carries, which any program may have packed; undefined: it carries none. */
export function inflateToolCallId(packed: string): string | undefined {
  const at = packed.lastIndexOf(MARK)
  if (at < 0) return undefined
  const bytes = Buffer.from(packed.slice(at + MARK.length), 'base64url')
  try {
    return inflateRawSync(bytes, { maxOutputLength: maxInflated(bytes.length) }).toString('utf8')
  } catch {
    return undefined
  }
}

/** The most bytes that it costs to find that an id carries nothing that can be unpacked. */
export function maxCarried(packed: string): number {
  const at = packed.lastIndexOf(MARK)
  return at < 0 ? 0 : maxInflated(Buffer.byteLength(packed.slice(at + MARK.length), 'base64url'))
}

function maxInflated(packedBytes: number): number {
  return Math.max(1, Math.min(MAX_DETAILS_BYTES, packedBytes * MAX_RATIO))
}

/** The provider's own id, and what packToolCallId put beside it. An id that another program marked carries nothing. */
export function unpackToolCallId(packed: string): {
  readonly id: string
  readonly details: readonly ReasoningDetail[]
} {
  const id = plainToolCallId(packed)
  const text = inflateToolCallId(packed)
  if (text === undefined) return { id, details: NOTHING }
  try {
    const value: unknown = JSON.parse(text)
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

/** OpenAI takes no longer id of a call. */
const MAX_CALL_ID = 64

/** Returns true if the id is longer than every provider accepts, or carries reasoning. */
export function isLongToolCallId(id: string): boolean {
  return id.length > MAX_CALL_ID || id.includes(MARK)
}

/** The id without what it carries, at most as long as OpenAI takes. A call and its result get the same id. */
export function shortToolCallId(packed: string): string {
  const id = plainToolCallId(packed)
  if (id.length <= MAX_CALL_ID) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

const TEXTS = ['text', 'summary', 'signature', 'data', 'id', 'via'] as const

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
 * The mark on details that came from a family's own provider. Other providers serve the same models, but their details
 * belong to their own accounts: without a mark, the two cannot be distinguished when a caller sends them back.
 */
const DIRECT = 'direct'

/** Details as a caller gets them, who may send them back to any provider. */
export function markDirect(details: readonly ReasoningDetail[]): readonly ReasoningDetail[] {
  return details.map(detail => (detail.via === undefined ? { ...detail, via: DIRECT } : detail))
}

/** Returns true if the detail came from the family's own provider, with no other provider between. */
export function isDirect({ via = DIRECT }: ReasoningDetail): boolean {
  return via === DIRECT
}

/** Returns true if the detail came from this provider, or from one of the family that no mark names. */
export function isOf(detail: ReasoningDetail, providerId: string | undefined): boolean {
  return isDirect(detail) || detail.via === providerId
}

/**
 * The reasoning of an assistant's message that one provider family made: from the message itself where the client kept
 * it, and what it lost from the ids of its tool calls. What others made is left out: a foreign signature is refused. `providerId`:
 * where each provider of the family reads its own only.
 */
export function listReasoningDetails(
  message: { readonly [field: string]: unknown },
  format: ReasoningDetail['format'],
  providerId?: string,
): readonly ReasoningDetail[] {
  const { kept, carried } = readDetails(message)
  // The ids tell whose the details are that a client kept without the gateway's mark: if another provider handed the turn on,
  // all of them are that provider's.
  const isHandedOn = carried.some(detail => !isOf(detail, providerId))
  const isOfFormat = (detail: ReasoningDetail): boolean =>
    detail.format === format && isOf(detail, providerId) && (detail.via !== undefined || !isHandedOn)
  return withLost(
    kept.filter(isOfFormat),
    carried.filter(detail => detail.format === format && isOf(detail, providerId)),
  )
}

/**
 * Adds the details that the client lost. Some clients keep only the last ones of a stream, such as the helper for streams of
 * OpenAI's for JavaScript, so that lost ones come first.
 */
function withLost(
  kept: readonly ReasoningDetail[],
  carried: readonly ReasoningDetail[],
): readonly ReasoningDetail[] {
  const known = new Set(kept.map(identify))
  return [...carried.filter(detail => !known.has(identify(detail))), ...kept]
}

/** A text that is the same for two copies of one detail. Readable text is left out: its signature is enough. */
export function identify({ type, id, data, signature, summary }: ReasoningDetail): string {
  return JSON.stringify([type, id, data, signature, summary])
}

/**
 * The reasoning of an assistant's message as the provider that handed it on takes it back, without the gateway's mark. What has
 * no mark is the caller's own and goes out as it came, unless the ids tell that another provider made it.
 */
export function listHandedDetails(
  message: { readonly [field: string]: unknown },
  providerId: string,
): readonly ReasoningDetail[] {
  const { kept, carried } = readDetails(message)
  const isFromProvider = ({ via }: ReasoningDetail): boolean => via === providerId
  if (carried.length > 0 || kept.some(isFromProvider))
    return withLost(kept.filter(isFromProvider), carried.filter(isFromProvider)).map(withoutMark)
  return kept.filter(({ via }) => via === undefined)
}

function withoutMark({ via: _via, ...detail }: ReasoningDetail): ReasoningDetail {
  return detail
}

interface Details {
  readonly kept: readonly ReasoningDetail[]
  /** The details in the ids of the message's calls. */
  readonly carried: readonly ReasoningDetail[]
}

function readDetails(message: { readonly [field: string]: unknown }): Details {
  const kept = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isDetail) : NOTHING
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  const carried = calls.flatMap((call: { id?: unknown } | null) =>
    typeof call?.id === 'string' ? unpackToolCallId(call.id).details : [],
  )
  return { kept, carried }
}

/** Hands the reasoning before a call to its id, each piece once: the first call of a turn carries most. */
export class ReasoningInIds {
  private pending: ReasoningDetail[] = []

  add(detail: ReasoningDetail): void {
    this.pending.push(detail)
  }

  /** Counts the call of the id. */
  pack(id: string, budget: CallBudget): string {
    const packed = packToolCallId(id, budget.take(this.pending))
    this.pending = []
    return packed
  }
}
