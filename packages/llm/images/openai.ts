import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject, toObjects, toText } from '../json/json-value.ts'
import { toTable } from '../json/to-table.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import type { OpenAiImageDeviations } from '../provider/image-service.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { toAddress, toWireModel } from '../upstream/openai-address.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'
import { readReportedCost } from '../usage/reported-cost.ts'
import { anyCountOrZero } from '../usage/token-count.ts'
import {
  findOutput,
  type GeneratedImage,
  type ImageFormat,
  type ImageReply,
  type ImageRequest,
  type ImageSource,
  type ImageUsage,
  listParams,
  toDataUrl,
} from './image-format.ts'
import { OPENAI_RULES } from './image-rules.ts'
import { findAspectRatio, parseSize } from './image-size.ts'
import { type FormPart, toSentForm } from './multipart.ts'

/** OpenAI's limit on one request. */
const MAX_IMAGES = 10
/** These models always return base64 and reject requests with `response_format`. */
const ALWAYS_BASE64 = /^(?:gpt-image|chatgpt-image)/
const MAKES_ONE = /^dall-e-3/

/** `POST /images/generations` and `/images/edits` as OpenAI has them, with every provider's deviations. */
export const openAiImages: ImageFormat = {
  maxImages: ({ provider, model }) =>
    MAKES_ONE.test(model) ? 1 : (provider.images?.openai?.maxImages ?? MAX_IMAGES),
  canEdit: ({ model }) => !MAKES_ONE.test(model),
  listUnsupportedParams(request, { provider }) {
    const deviations = provider.images?.openai ?? {}
    const { unsupported = [], editImages } = deviations
    const lost = listParams(request).filter(name => unsupported.includes(name))
    if (encodeSize(request.size, deviations) === undefined) lost.push('size')
    // Only the form has a place for it, and OpenAI's own JSON.
    if (request.mask !== undefined && editImages !== undefined && editImages !== 'image_url')
      lost.push('mask')
    if (editImages === 'single' && (request.images?.length ?? 0) > 1) lost.push('images')
    return [...new Set(lost)]
  },
  // OpenAI's price list: what is larger than a square, or of high definition, costs twice, both three times as much.
  priceFactor({ size, quality }, model) {
    if (!MAKES_ONE.test(model)) return 1
    const { width, height } = parseSize(size) ?? { width: 1024, height: 1024 }
    return 1 + (width * height > 1024 * 1024 ? 1 : 0) + (quality === 'hd' || quality === 'high' ? 1 : 0)
  },
  encodeRequest(request, target, dropped = []) {
    return encode(request, target, dropped)
  },
  decodeReply,
}

function encode(request: ImageRequest, target: Target, dropped: readonly string[]): EncodedRequest {
  const fields = encodeFields(request, target, dropped)
  const { images, mask } = request
  if (images === undefined) return toJson(target, deviationsOf(target).path ?? '/images/generations', fields)
  const { editImages, editPath = '/images/edits' } = deviationsOf(target)
  const sent = dropped.includes('mask') ? undefined : mask
  const hasAddress = [...images, sent].some(source => source?.kind === 'url')
  if (editImages === undefined && !hasAddress) return toForm(target, editPath, fields, images, sent)
  const body = { ...fields, ...encodeImages(images, editImages ?? 'image_url') }
  return toJson(
    target,
    editPath,
    sent === undefined ? body : { ...body, mask: { image_url: toDataUrl(sent) } },
  )
}

function deviationsOf({ provider }: Target): OpenAiImageDeviations {
  return provider.images?.openai ?? {}
}

function encodeFields(request: ImageRequest, target: Target, dropped: readonly string[]): JsonObject {
  const deviations = deviationsOf(target)
  const { unsupported = [], base64 = 'b64_json' } = deviations
  const own: Record<string, JsonObject[string] | undefined> = {
    quality: request.quality,
    background: request.background,
    output_format: request.outputFormat,
    user: request.user,
  }
  if (!dropped.includes('size')) Object.assign(own, encodeSize(request.size, deviations))
  if (!ALWAYS_BASE64.test(target.model) && request.responseFormat !== undefined) {
    own.response_format = request.responseFormat === 'url' ? 'url' : base64
  }
  const sent = Object.entries({ ...request.rest, ...own }).filter(
    ([name, value]) => value !== undefined && !unsupported.includes(name) && !dropped.includes(name),
  )
  const fields: JsonObject = Object.fromEntries(sent)
  fields.model = toWireModel(target)
  fields.prompt = request.prompt
  if (request.n > 1) fields.n = request.n
  return fields
}

/** undefined: the provider has no such size. */
function encodeSize(size: string | undefined, deviations: OpenAiImageDeviations): JsonObject | undefined {
  const { splitsSize, aspectRatios } = deviations
  if (size === undefined) return {}
  if (splitsSize !== true && aspectRatios === undefined) return { size }
  if (size === 'auto') return {}
  const requestedSize = parseSize(size)
  if (requestedSize === undefined || aspectRatios === undefined)
    return requestedSize === undefined ? undefined : { ...requestedSize }
  const ratio = findAspectRatio(requestedSize, aspectRatios)
  return ratio === undefined ? undefined : { aspect_ratio: ratio }
}

function encodeImages(
  images: readonly ImageSource[],
  kind: NonNullable<OpenAiImageDeviations['editImages']>,
): JsonObject {
  const urls = images.map(toDataUrl)
  switch (kind) {
    case 'image_url':
      return { images: urls.map(url => ({ image_url: url })) }
    case 'typed':
      return { images: urls.map(url => ({ type: 'image_url', url })) }
    case 'input_references':
      return { input_references: urls.map(url => ({ type: 'image_url', image_url: { url } })) }
    case 'single':
      return { image_url: urls[0] as Json }
  }
}

function toJson(target: Target, path: string, body: JsonObject): EncodedRequest {
  return {
    ...toAddress(target, path),
    headers: { ...JSON_HEADERS },
    body: toSentJson(body),
    content: { rules: OPENAI_RULES, value: body },
  }
}

function toForm(
  target: Target,
  path: string,
  fields: JsonObject,
  images: readonly ImageSource[],
  mask: ImageSource | undefined,
): EncodedRequest {
  const parts: FormPart[] = []
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue
    parts.push({ name, value: typeof value === 'string' ? value : JSON.stringify(value) })
  }
  const field = images.length > 1 ? 'image[]' : 'image'
  images.forEach((image, index) => parts.push(toFile(field, `image-${index}`, image)))
  if (mask !== undefined) parts.push(toFile('mask', 'mask', mask))
  return {
    ...toAddress(target, path),
    headers: { accept: 'application/json' },
    ...toSentForm(parts),
    // The files besides are images, in the gateway's own fields.
    content: { rules: OPENAI_RULES, value: fields },
  }
}

function toFile(name: string, stem: string, source: ImageSource): FormPart {
  if (source.kind === 'url') throw new Error('a form holds no addresses')
  const { mediaType, bytes } = source
  return { name, bytes, mediaType, fileName: `${stem}.${mediaType.replace(/^image\//, '')}` }
}

function decodeReply(body: JsonObject, target: Target): ImageReply | undefined {
  const entries = toObjects(body.data)
  const images = entries.map(toImage).filter(image => image !== undefined)
  if (images.length === 0 || images.length !== entries.length) return undefined
  const commonFields = toTable<JsonObject>({})
  for (const name of ['background', 'output_format', 'quality', 'size']) {
    if (body[name] !== undefined) commonFields[name] = body[name]
  }
  const cost = readReportedCost(body.usage, target)
  return {
    images,
    usage: decodeUsage(body),
    commonFields,
    ...(cost === undefined ? {} : { costNanoUsd: cost }),
  }
}

function toImage(entry: JsonObject): GeneratedImage | undefined {
  const base64 = toText(entry.b64_json)
  const url = toText(entry.url)
  if (base64 === undefined && url === undefined) return undefined
  const mediaType = toText(entry.mime_type) ?? toText(entry.media_type)
  const revisedPrompt = toText(entry.revised_prompt)
  return {
    ...(base64 === undefined ? {} : { base64 }),
    ...(url === undefined ? {} : { url }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
  }
}

function decodeUsage(body: JsonObject): ImageUsage | undefined {
  const usage = toObject(body.usage)
  const input = anyCountOrZero(usage?.input_tokens ?? usage?.prompt_tokens)
  const counted = anyCountOrZero(usage?.output_tokens ?? usage?.completion_tokens)
  const output = findOutput(input, counted, anyCountOrZero(usage?.total_tokens), true)
  if (output === undefined) return undefined
  const details = toObject(usage?.input_tokens_details)
  const imageInput = Math.min(input, anyCountOrZero(details?.image_tokens))
  const cached = toObject(details?.cached_tokens_details)
  const cachedTotal = anyCountOrZero(details?.cached_tokens)
  const imageCacheRead = Math.min(imageInput, anyCountOrZero(cached?.image_tokens))
  const textCacheRead = Math.min(input - imageInput, anyCountOrZero(cached?.text_tokens ?? cachedTotal))
  const textTokens = anyCountOrZero(toObject(usage?.output_tokens_details)?.text_tokens)
  // Some of the output is the image.
  const textOutput = textTokens < output ? textTokens : 0
  return {
    textInput: input - imageInput - textCacheRead,
    textCacheRead,
    imageInput: imageInput - imageCacheRead,
    imageCacheRead,
    textOutput,
    imageOutput: output - textOutput,
  }
}
