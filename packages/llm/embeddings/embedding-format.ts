import type { JsonObject } from '../json/json-value.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'

/** Texts, or texts as the numbers of their tokens, which few providers take. */
export type EmbeddingInput = readonly string[] | readonly (readonly number[])[]

/** One embeddings request as the gateway understands it. */
export interface EmbeddingRequest {
  /** The model's name in the request: `provider/model`, an alias or a bare name. */
  readonly model: string
  /** Empty only in formats where that has an answer; no provider is asked then. */
  readonly input: EmbeddingInput
  /** How long each vector shall be; undefined: as the model gives it. */
  readonly dimensions?: number
  /** What the caller is sent: the provider is asked for the same where it knows both. */
  readonly encoding: 'float' | 'base64'
  /** What the texts are for, where the model tells it apart: `query` or `document`. */
  readonly inputType?: string
  /** What becomes of a text that is too long: `none` asks for an error. Absent: as the provider does. */
  readonly truncate?: 'none' | 'start' | 'end'
  /** The title of the document that the texts are from. */
  readonly title?: string
  readonly user?: string
  /** What the caller sent besides, in OpenAI's shape: passed on to providers that speak it. */
  readonly rest?: JsonObject
}

/** One input's vector: numbers, or the base64 of little-endian 32-bit floats. */
export type Vector = readonly number[] | string

export interface EmbeddingReply {
  /** The vectors in the order of the inputs. */
  readonly vectors: readonly Vector[]
  /** undefined: the provider names none. */
  readonly inputTokens: number | undefined
  /** The provider's own word for what the call cost, in whole nano-dollars (see reported-cost.ts). */
  readonly costNanoUsd?: number
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The client side of a wire format of embeddings. Pure. */
export interface EmbeddingFormat {
  /** Inputs that one call takes at most for a model; a longer request becomes several calls. */
  maxInputs(model: string): number
  /** Takes the numbers of tokens in the place of texts. Absent: texts only. */
  readonly takesTokens?: true
  /** Takes the title of a document. */
  readonly takesTitle?: true
  /** True if the provider can be told to cut the beginning of a text that is too long. */
  readonly cutsStart?: true
  /** `request.input` is what this one call is for. */
  encodeRequest(request: EmbeddingRequest, target: Target): EncodedRequest
  /** undefined: the answer holds no vectors. */
  decodeReply(body: JsonObject, headers: Headers, target: Target): EmbeddingReply | undefined
}

/** undefined: not a list of numbers, or an empty one. */
export function toNumbers(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  // `every` takes ten times as long, and answers have millions.
  for (let at = 0; at < value.length; at++) if (!Number.isFinite(value[at])) return undefined
  return value
}

/** The larger of two counts of one thing, of which each may be missing. */
export function toLarger(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.max(one, other)
}

/** Returns every vector, or undefined if an entry is no vector. */
export function toVectors(values: readonly unknown[]): readonly (readonly number[])[] | undefined {
  const vectors = values.map(toNumbers)
  return vectors.length > 0 && vectors.every(vector => vector !== undefined) ? vectors : undefined
}
