import type { JsonObject } from '../json/json-value.ts'
import { toObject, toObjects, toText } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'
import { anyCountOrZero } from '../usage/token-count.ts'
import {
  findOutput,
  type GeneratedImage,
  type GoogleFields,
  type ImageFormat,
  type ImageReply,
  type ImageRequest,
  type ImageUsage,
  listParams,
  toBase64,
} from './image-format.ts'
import { GOOGLE_RULES, PASSED_GOOGLE_RULES } from './image-rules.ts'
import { findAspectRatio, parseSize } from './image-size.ts'

const isImagen = (model: string): boolean => model.startsWith('imagen')
/** Imagen's models that edit are apart from those that draw. */
const IMAGEN_EDITS = /capability/
const IMAGEN_MAX = 4
const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9']
const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']
/** Longer sides than these need the next of Gemini's sizes; its first image models know only one. */
const SIZES: readonly (readonly [longest: number, name: string])[] = [
  [1792, '1K'],
  [3072, '2K'],
  [Number.POSITIVE_INFINITY, '4K'],
]
const HAS_ONE_SIZE = /^gemini-2/

/**
 * Google's two ways to an image, at AI Studio and on Vertex: Imagen's `:predict`, and Gemini's `:generateContent`, which
 * is asked for an image instead of words.
 */
export const googleImages: ImageFormat = {
  maxImages: ({ model }) => (isImagen(model) ? IMAGEN_MAX : 1),
  canEdit: ({ model }) => !isImagen(model) || IMAGEN_EDITS.test(model),
  inlinesImages: true,
  listUnsupportedParams(request, { model }) {
    const { google } = request
    if (google !== undefined) return isImagen(model) ? google.only : google.unknownFields
    return listParams(request).filter(name => {
      if (name === 'size') return encodeSize(request, model) === undefined
      return !(name === 'output_format' && isImagen(model) && request.outputFormat === 'jpeg')
    })
  },
  // Google's tables: 1,290 for every image of the first models; 1,120 to 2,520 by size of those that came after.
  maxImageTokens: model => (HAS_ONE_SIZE.test(model) ? 1290 : 2520),
  encodeRequest(request, target, dropped = []) {
    if (request.google !== undefined && !isImagen(target.model)) return toPassed(request.google, target)
    const size = dropped.includes('size') ? {} : (encodeSize(request, target.model) ?? {})
    return isImagen(target.model)
      ? toRequest('predict', encodePredict(request, size), target)
      : toRequest('generateContent', encodeContent(request, size), target)
  },
  decodeReply: body =>
    body.candidates !== undefined || body.promptFeedback !== undefined
      ? decodeContent(body)
      : decodePredict(body),
}

/** undefined: it has no such shape. */
function encodeSize({ size }: ImageRequest, model: string): JsonObject | undefined {
  if (size === undefined || size === 'auto') return {}
  const requestedSize = parseSize(size)
  if (requestedSize === undefined) return undefined
  const aspectRatio = findAspectRatio(requestedSize, isImagen(model) ? IMAGEN_RATIOS : GEMINI_RATIOS)
  const longest = Math.max(requestedSize.width, requestedSize.height)
  const tier = SIZES.find(([most]) => longest <= most)?.[1]
  if (aspectRatio === undefined) return undefined
  if (tier === '1K') return { aspectRatio }
  return isImagen(model) || HAS_ONE_SIZE.test(model) ? undefined : { aspectRatio, imageSize: tier as string }
}

function toRequest(method: string, body: JsonObject, { provider, model, baseUrl }: Target): EncodedRequest {
  return {
    ...joinAddress(baseUrl, `${provider.modelPath ?? '/models'}/${encodeURIComponent(model)}:${method}`),
    headers: { ...JSON_HEADERS },
    body: toSentJson(body),
    content: { rules: GOOGLE_RULES, value: body },
  }
}

/** A caller's own contents and settings. */
function toPassed(google: GoogleFields, target: Target): EncodedRequest {
  const { contents, systemInstruction, config, safetySettings } = google
  const value: JsonObject = { contents: [...contents], generationConfig: config }
  if (systemInstruction !== undefined) value.systemInstruction = systemInstruction
  if (safetySettings !== undefined) value.safetySettings = safetySettings
  const request = toRequest('generateContent', value, target)
  return { ...request, content: { rules: PASSED_GOOGLE_RULES, value } }
}

function encodePredict(request: ImageRequest, size: JsonObject): JsonObject {
  const instance: JsonObject = { prompt: request.prompt }
  if (request.images !== undefined) {
    instance.referenceImages = request.images.map((image, index) => ({
      referenceType: 'REFERENCE_TYPE_RAW',
      referenceId: index + 1,
      referenceImage: { bytesBase64Encoded: toBase64(image) },
    }))
  }
  const parameters: JsonObject = { sampleCount: request.n, ...size }
  if (request.outputFormat === 'jpeg') parameters.outputOptions = { mimeType: 'image/jpeg' }
  return { instances: [instance], parameters }
}

function decodePredict(body: JsonObject): ImageReply | undefined {
  const predictions = toObjects(body.predictions)
  const images = predictions.map(toPredicted).filter(image => image !== undefined)
  // What its policy takes away is left out, and nothing says so but a reason in the place of an image.
  if (images.length > 0) return { images, usage: undefined }
  const isFiltered = predictions.some(prediction => prediction.raiFilteredReason !== undefined)
  const isEmpty =
    Object.keys(body).length === 0 || (Array.isArray(body.predictions) && predictions.length === 0)
  return isFiltered || isEmpty ? { images: [], usage: undefined, isFiltered: true } : undefined
}

function toPredicted(prediction: JsonObject): GeneratedImage | undefined {
  const base64 = toText(prediction.bytesBase64Encoded)
  if (base64 === undefined) return undefined
  const mediaType = toText(prediction.mimeType)
  const revisedPrompt = toText(prediction.prompt)
  return {
    base64,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
  }
}

function encodeContent(request: ImageRequest, size: JsonObject): JsonObject {
  const parts: JsonObject[] = (request.images ?? []).map(image => ({
    inlineData: { mimeType: image.kind === 'data' ? image.mediaType : 'image/png', data: toBase64(image) },
  }))
  const config: JsonObject = { responseModalities: ['IMAGE'] }
  if (Object.keys(size).length > 0) config.imageConfig = size
  return {
    contents: [{ role: 'user', parts: [{ text: request.prompt }, ...parts] }],
    generationConfig: config,
  }
}

/** Reasons for which an image is withheld; others, such as NO_IMAGE, are a model that did not do its work. */
const FILTERED =
  /^(?:SAFETY|IMAGE_SAFETY|PROHIBITED_CONTENT|IMAGE_PROHIBITED_CONTENT|BLOCKLIST|RECITATION|IMAGE_RECITATION|SPII)$/

function decodeContent(body: JsonObject): ImageReply | undefined {
  const candidates = toObjects(body.candidates)
  const images = candidates.flatMap(candidate =>
    toObjects(toObject(candidate.content)?.parts)
      // A model that thinks draws drafts, which are no answer.
      .filter(part => part.thought !== true)
      .map(part => toInline(toObject(part.inlineData)))
      .filter(image => image !== undefined),
  )
  const usage = decodeUsage(body, images.length > 0)
  if (images.length > 0) return { images, usage }
  const isBlocked = toText(toObject(body.promptFeedback)?.blockReason) !== undefined
  const isFiltered =
    isBlocked || candidates.some(({ finishReason }) => FILTERED.test(toText(finishReason) ?? ''))
  if (isFiltered) return { images, usage, isFiltered }
  const hasText = candidates.some(({ content }) =>
    toObjects(toObject(content)?.parts).some(part => toText(part.text) !== undefined),
  )
  return hasText ? { images, usage, isText: true } : undefined
}

function toInline(data: JsonObject | undefined): GeneratedImage | undefined {
  const base64 = toText(data?.data)
  const mediaType = toText(data?.mimeType)
  if (base64 === undefined || mediaType?.startsWith('image/') !== true) return undefined
  return { base64, mediaType }
}

function decodeUsage(body: JsonObject, hasImages: boolean): ImageUsage | undefined {
  const usage = toObject(body.usageMetadata)
  const input = anyCountOrZero(usage?.promptTokenCount)
  const thoughts = anyCountOrZero(usage?.thoughtsTokenCount)
  const counted = anyCountOrZero(usage?.candidatesTokenCount)
  const output = findOutput(input + thoughts, counted, anyCountOrZero(usage?.totalTokenCount), hasImages)
  if (output === undefined) return undefined
  const imageInput = Math.min(input, countImages(usage?.promptTokensDetails) ?? 0)
  const textCacheRead = Math.min(input - imageInput, anyCountOrZero(usage?.cachedContentTokenCount))
  // Without details of an image that came, all that came out is the image: words are not asked for.
  const drawn = countImages(usage?.candidatesTokensDetails) ?? output
  const imageOutput = drawn === 0 && hasImages ? output : Math.min(output, drawn)
  return {
    textInput: input - imageInput - textCacheRead,
    textCacheRead,
    imageInput,
    imageCacheRead: 0,
    textOutput: output - imageOutput + thoughts,
    imageOutput,
  }
}

/** undefined: no details. */
function countImages(details: JsonObject[string] | undefined): number | undefined {
  if (!Array.isArray(details)) return undefined
  const image = toObjects(details).find(({ modality }) => modality === 'IMAGE')
  return anyCountOrZero(image?.tokenCount)
}
