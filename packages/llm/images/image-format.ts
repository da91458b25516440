import { toBase64Json } from '../json/base64.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { toTable } from '../json/to-table.ts'
import type { SentBody } from '../json/unwritten-json.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'

/** An image that a request brings along: its bytes, or the address at which it lies. */
export type ImageSource =
  | { readonly kind: 'data'; readonly mediaType: string; readonly bytes: SentBody }
  | { readonly kind: 'url'; readonly url: string }

/** One request for images as the gateway understands it. */
export interface ImageRequest {
  /** The model's name in the request: `provider/model`, an alias or a bare name. */
  readonly model: string
  readonly prompt: string
  /** How many images are wanted, at least one. */
  readonly n: number
  /** What is to be edited; absent: nothing, the image is new. Never empty. */
  readonly images?: readonly ImageSource[]
  readonly mask?: ImageSource
  /** `auto`, or width and height: `1024x1024`. */
  readonly size?: string
  readonly quality?: string
  readonly background?: string
  readonly outputFormat?: string
  readonly responseFormat?: 'url' | 'b64_json'
  readonly user?: string
  /** What the caller sent besides, in OpenAI's shape: passed on to providers that speak it. */
  readonly rest?: JsonObject
  /** What the caller sent in Gemini's format. Google's models get it as it came. */
  readonly google?: GoogleFields
}

/** The parts of a body of `:generateContent` that asks for images. */
export interface GoogleFields {
  readonly contents: readonly JsonObject[]
  readonly systemInstruction?: JsonObject
  /** `generationConfig`, which names the kinds of output. */
  readonly config: JsonObject
  /** As it came. */
  readonly safetySettings?: Json
  /** Paths of what other models cannot honour. */
  readonly only: readonly string[]
  /** Paths of fields that no model gets. */
  readonly unknownFields: readonly string[]
}

export interface GeneratedImage {
  /** The image's bytes in base64. Either this or `url` is present. */
  readonly base64?: string
  readonly url?: string
  /** The media type, where the provider names it. */
  readonly mediaType?: string
  readonly revisedPrompt?: string
}

/** What images are paid by. Tokens are zero where a provider names none. */
export interface ImageUsage {
  readonly textInput: number
  readonly textCacheRead: number
  readonly imageInput: number
  readonly imageCacheRead: number
  readonly textOutput: number
  readonly imageOutput: number
}

export interface ImageReply {
  /** Empty only where `isFiltered`. */
  readonly images: readonly GeneratedImage[]
  /** undefined: the provider names none. */
  readonly usage: ImageUsage | undefined
  /** The provider's own word for what the call cost, in whole nano-dollars. */
  readonly costNanoUsd?: number
  /** A Google model's whole answer to a caller of Gemini's format. It may have words besides images. */
  readonly received?: JsonObject
  /** True if the answer has words alone. */
  readonly isText?: true
  /** The provider's policy took the images away. */
  readonly isFiltered?: true
  /** The fields of an answer in OpenAI's format that describe all images: `background`, `quality`, `size`, `output_format`. */
  readonly commonFields?: JsonObject
}

/** The client side of a wire format of images. Pure. */
export interface ImageFormat {
  /** Images that one call makes at most for a model; a longer request becomes several calls. */
  maxImages(target: Pick<Target, 'provider' | 'model'>): number
  canEdit(target: Pick<Target, 'provider' | 'model'>): boolean
  /** True if the provider fetches no addresses: images that a request names by `https:` are fetched and sent along. */
  readonly inlinesImages?: true
  /** Wire names of what is set, that the target cannot honour, and whose loss would change the images. */
  listUnsupportedParams(request: ImageRequest, target: Pick<Target, 'provider' | 'model'>): readonly string[]
  /**
   * How many times the catalogue's price of an image one such costs, where the provider's price list has steps by size and
   * quality and the catalogue one of them. Absent: once.
   */
  priceFactor?(request: ImageRequest, model: string): number
  /** The most tokens that one image of a model has. Absent: by OpenAI's table (image-pricing.ts). */
  maxImageTokens?(model: string): number
  /** `request.n` is what this one call is for. `dropped`: wire names that must not be sent. */
  encodeRequest(request: ImageRequest, target: Target, dropped?: readonly string[]): EncodedRequest
  /** undefined: the answer has no images. */
  decodeReply(body: JsonObject, target: Target): ImageReply | undefined
}

/** The values of OpenAI's own fields that change nothing if they are not sent, such as those that mean "as you like". */
const HARMLESS: Readonly<Record<string, readonly unknown[]>> = toTable({
  size: ['auto'],
  quality: ['auto', 'standard'],
  background: ['auto', 'opaque'],
  output_format: ['png'],
  moderation: ['auto'],
  input_fidelity: ['low'],
})

/** The parameters of a request that are set to something that matters, by their wire names. */
export function listParams(request: ImageRequest): string[] {
  const values = new Map(Object.entries(request.rest ?? {}))
  const { size, quality, background, outputFormat } = request
  const own = { size, quality, background, output_format: outputFormat }
  for (const [name, value] of Object.entries(own)) if (value !== undefined) values.set(name, value)
  const set = [...values]
    .filter(([name, value]) => value !== null && HARMLESS[name]?.includes(value) !== true)
    .map(([name]) => name)
  return request.mask === undefined ? set : [...set, 'mask']
}

export function toDataUrl(source: ImageSource): Json {
  return source.kind === 'url' ? source.url : toBase64Json(source.bytes, `data:${source.mediaType};base64,`)
}

/** Returns the base64 of an image that was sent along, or fetched before: a format that inlines images gets no others. */
export function toBase64(source: ImageSource): Json {
  if (source.kind === 'url') throw new Error('an image was not fetched before its request was written')
  return toBase64Json(source.bytes)
}

/** More is a provider's mistake. */
const MAX_TOKENS = 20_000_000

/** Returns true if a request can have used that many tokens. Impossible usage is billed at its maximum, like missing usage. */
function isCredible(tokens: number): boolean {
  return tokens > 0 && tokens <= MAX_TOKENS
}

/**
 * Returns the output tokens of an answer: what its total leaves if they are missing. undefined: they cannot be true, since an image
 * costs some, or there are too many tokens.
 */
export function findOutput(
  input: number,
  output: number,
  total: number,
  hasImages: boolean,
): number | undefined {
  const counted = output > 0 ? output : Math.max(0, total - input)
  return isCredible(input + counted) && (counted > 0 || !hasImages) ? counted : undefined
}
