import type { JsonObject } from '../../../json/json-value.ts'
import { toIndex, toObjects, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What OpenRouter says where a model's maker is not known to sign anything. */
const UNKNOWN = 'unknown'
const TYPES: ReadonlySet<string> = new Set(['reasoning.text', 'reasoning.encrypted', 'reasoning.summary'])

/**
 * The `reasoning_details` of a message: reasoning of the makers whose models a provider hands on, which it takes back
 * in the order that it came (openrouter.ai/docs, "Preserving reasoning blocks"). Marked, since nobody else takes it.
 */
export function readDetails(message: JsonObject, providerId: string): ReasoningDetail[] {
  if (!Array.isArray(message.reasoning_details)) return []
  const found = new DetailSum()
  found.add(message, providerId)
  return found.take()
}

/**
 * Adds up the pieces that a stream gives of each detail. A piece belongs to the detail of its type and number; a
 * signature comes with the last, and what is encrypted in one.
 */
export class DetailSum {
  private details: Mutable<ReasoningDetail>[] = []

  add(delta: JsonObject, providerId: string): void {
    for (const wire of toObjects(delta.reasoning_details)) {
      const type = toText(wire.type)
      if (type === undefined || !TYPES.has(type)) continue
      const piece = toDetail(wire, type as ReasoningDetail['type'], providerId)
      const known = this.details.find(detail => isSame(detail, piece))
      if (known === undefined) this.details.push(piece)
      else grow(known, piece)
    }
  }

  /** What was added since the last time; nothing of it can grow any more. */
  take(): ReasoningDetail[] {
    const whole = this.details.filter(
      ({ text, summary, signature, data }) => (text ?? summary ?? signature ?? data) !== undefined,
    )
    this.details = []
    return whole.map(inOrder)
  }
}

/** Fields in one order, so that a plain and a streamed answer carry the same. */
function inOrder({ type, format, via, index, ...texts }: ReasoningDetail): ReasoningDetail {
  const { text, summary, signature, data, id } = texts
  return {
    type,
    format,
    ...(text === undefined ? {} : { text }),
    ...(summary === undefined ? {} : { summary }),
    ...(signature === undefined ? {} : { signature }),
    ...(data === undefined ? {} : { data }),
    ...(id === undefined ? {} : { id }),
    ...(index === undefined ? {} : { index }),
    ...(via === undefined ? {} : { via }),
  }
}

function toDetail(
  wire: JsonObject,
  type: ReasoningDetail['type'],
  providerId: string,
): Mutable<ReasoningDetail> {
  const index = toIndex(wire.index)
  const detail: Mutable<ReasoningDetail> = { type, format: toText(wire.format) ?? UNKNOWN, via: providerId }
  for (const name of ['text', 'summary', 'signature', 'data', 'id'] as const) {
    const value = toText(wire[name])
    if (value !== undefined) detail[name] = value
  }
  if (index !== undefined) detail.index = index
  return detail
}

function isSame(known: ReasoningDetail, piece: ReasoningDetail): boolean {
  const hasOtherId = known.id !== undefined && piece.id !== undefined && known.id !== piece.id
  // Numbers are given once in a plain answer; what is whole is never gone on with.
  const isWhole = known.data !== undefined || (known.signature !== undefined && piece.text !== undefined)
  return known.type === piece.type && known.index === piece.index && !hasOtherId && !isWhole
}

function grow(known: Mutable<ReasoningDetail>, piece: ReasoningDetail): void {
  for (const name of ['text', 'summary'] as const) {
    const more = piece[name]
    if (more !== undefined) known[name] = (known[name] ?? '') + more
  }
  for (const name of ['signature', 'data', 'id'] as const) {
    const value = piece[name]
    if (value !== undefined) known[name] = value
  }
}
