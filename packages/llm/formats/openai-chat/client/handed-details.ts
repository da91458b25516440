import type { JsonObject } from '../../../json/json-value.ts'
import { toIndex, toObjects, toText } from '../../../json/json-value.ts'
import {
  DETAIL_BYTES,
  MAX_DETAILS,
  type ReasoningDetail,
  sizeOf,
  tooManyDetails,
} from '../../../reply/reasoning-detail.ts'
import { KeptText } from '../../../stream/kept-text.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** OpenRouter's format for models whose maker is not known to sign reasoning. */
const UNKNOWN = 'unknown'
const TYPES: ReadonlySet<string> = new Set(['reasoning.text', 'reasoning.encrypted', 'reasoning.summary'])

/**
 * The `reasoning_details` of a message: reasoning of the makers of the models that an aggregator offers. The aggregator
 * takes it back in the same order (openrouter.ai/docs, "Preserving reasoning blocks"), and no other provider takes it, so
 * each piece is marked with the provider.
 */
export function readDetails(message: JsonObject, providerId: string): ReasoningDetail[] {
  if (!Array.isArray(message.reasoning_details)) return []
  const found = new DetailSum()
  found.add(message, providerId)
  return found.take()
}

/** How many details may be continued at the same time: each further piece is compared with them. */
const MAX_OPEN = 16

const GROWING = ['text', 'summary'] as const

/** A detail, and its text and summary if more than one piece of them has come. */
interface KeptDetail {
  readonly detail: Mutable<ReasoningDetail>
  readonly grown: { text?: KeptText; summary?: KeptText }
}

/**
 * Joins the pieces of each detail in a stream. Pieces of one detail have the same type and index; its signature comes with
 * the last piece, and encrypted data in a single one.
 */
export class DetailSum {
  private details: KeptDetail[] = []
  /** Those of `details` that may be continued. */
  private open: KeptDetail[] = []
  private count = 0
  /** The bytes of the details since the last call of `take`. */
  size = 0

  /** Throws if the choice has more than MAX_DETAILS, or a frame as many pieces of them. */
  add(delta: JsonObject, providerId: string): void {
    const pieces = toObjects(delta.reasoning_details)
    if (pieces.length > MAX_DETAILS) throw tooManyDetails()
    for (const wire of pieces) {
      const type = toText(wire.type)
      if (type === undefined || !TYPES.has(type)) continue
      const piece = toDetail(wire, type as ReasoningDetail['type'], providerId)
      const known = this.open.find(({ detail }) => isSame(detail, piece))
      if (known === undefined) this.begin(piece)
      else grow(known, piece)
      // Of further pieces the format is not kept.
      this.size += sizeOf(piece) - (known === undefined ? 0 : piece.format.length)
    }
  }

  private begin(piece: Mutable<ReasoningDetail>): void {
    if (++this.count > MAX_DETAILS) throw tooManyDetails()
    const kept: KeptDetail = { detail: piece, grown: {} }
    this.details.push(kept)
    this.size += DETAIL_BYTES
    // Encrypted data comes in a single piece.
    if (piece.data !== undefined) return
    if (this.open.length === MAX_OPEN) this.open.shift()
    this.open.push(kept)
  }

  /** The details that were added since the last call. Later pieces begin new ones. */
  take(): ReasoningDetail[] {
    if (this.details.length === 0) return []
    const whole = this.details
      .map(toWhole)
      .filter(({ text, summary, signature, data }) => (text ?? summary ?? signature ?? data) !== undefined)
    this.details = []
    this.open = []
    this.size = 0
    return whole.map(inOrder)
  }
}

/** The detail with its fields in one order, so that plain and streamed answers carry the same text. */
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
  // A detail with data, or with a signature after its text, is complete: another piece begins a new one.
  const isWhole = known.data !== undefined || (known.signature !== undefined && piece.text !== undefined)
  return known.type === piece.type && known.index === piece.index && !hasOtherId && !isWhole
}

function grow({ detail, grown }: KeptDetail, piece: ReasoningDetail): void {
  for (const name of GROWING) {
    const more = piece[name]
    if (more === undefined) continue
    grown[name] ??= new KeptText(detail[name])
    grown[name].add(more)
  }
  for (const name of ['signature', 'data', 'id'] as const) {
    const value = piece[name]
    if (value !== undefined) detail[name] = value
  }
}

function toWhole({ detail, grown }: KeptDetail): ReasoningDetail {
  for (const name of GROWING) {
    const text = grown[name]
    if (text !== undefined) detail[name] = text.toString()
  }
  return detail
}
