import type { JsonObject } from '../json/json-value.ts'
import { toText } from '../json/json-value.ts'
import { toTable } from '../json/to-table.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { type ImageFormat, type ImageRequest, listParams, toBase64 } from './image-format.ts'
import { BEDROCK_RULES } from './image-rules.ts'
import { findAspectRatio, parseSize } from './image-size.ts'

/** Each maker's models there have a body of their own; the name may begin with a region (`us.amazon.…`). */
const isStability = (model: string): boolean => /(^|\.)stability\./.test(model)
const isNova = (model: string): boolean => model.includes('nova')
const AMAZON_MAX = 5
const STABILITY_RATIOS = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']
/** Amazon's words for OpenAI's. */
const QUALITIES: Readonly<Record<string, string>> = toTable({
  standard: 'standard',
  low: 'standard',
  medium: 'standard',
  high: 'premium',
  hd: 'premium',
  premium: 'premium',
})

/** `InvokeModel` for the image models of Amazon (Titan, Nova Canvas) and Stability. */
export const bedrockImages: ImageFormat = {
  maxImages: ({ model }) => (isStability(model) ? 1 : AMAZON_MAX),
  // Stability's take one image and a strength, for which there is no word.
  canEdit: ({ model }) => !isStability(model),
  inlinesImages: true,
  listUnsupportedParams(request, { model }) {
    return listParams(request).filter(name => {
      if (name === 'size') return !takesSize(request, model)
      if (name === 'quality') return isStability(model) || QUALITIES[request.quality ?? ''] === undefined
      return !(name === 'output_format' && isStability(model) && request.outputFormat === 'jpeg')
    })
  },
  priceFactor: (request, model) => (isStability(model) ? 1 : toPrice(request, model)),
  encodeRequest(request, { model, baseUrl }, dropped = []) {
    const kept: ImageRequest = {
      ...request,
      ...(dropped.includes('size') ? { size: 'auto' } : {}),
      ...(dropped.includes('quality') ? { quality: 'auto' } : {}),
    }
    const body = isStability(model) ? encodeStability(kept) : encodeAmazon(kept)
    return {
      ...joinAddress(baseUrl, `/model/${encodeURIComponent(model)}/invoke`),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: BEDROCK_RULES, value: body },
    }
  },
  decodeReply(body) {
    const list = Array.isArray(body.images) ? body.images : []
    const images = list.map(toText).filter(base64 => base64 !== undefined)
    if (images.length > 0) return { images: images.map(base64 => ({ base64 })), usage: undefined }
    const reasons = Array.isArray(body.finish_reasons) ? body.finish_reasons : []
    const isFiltered =
      toText(body.error) !== undefined || reasons.some(reason => toText(reason) !== undefined)
    return isFiltered ? { images: [], usage: undefined, isFiltered } : undefined
  },
}

function takesSize({ size }: ImageRequest, model: string): boolean {
  const requestedSize = parseSize(size)
  if (requestedSize === undefined) return false
  if (isStability(model)) return findAspectRatio(requestedSize, STABILITY_RATIOS) !== undefined
  const most = isNova(model) ? 4096 : 1408
  return Math.max(requestedSize.width, requestedSize.height) <= most
}

/**
 * Amazon's price lists have four steps, and the catalogue one: of Nova Canvas that of a premium image up to 1024x1024
 * ($0.06), of Titan that of a standard one up to 512x512 ($0.008). By default they draw 1024x1024, standard.
 */
function toPrice({ size, quality }: ImageRequest, model: string): number {
  const { width, height } = parseSize(size) ?? { width: 1024, height: 1024 }
  const isPremium = QUALITIES[quality ?? ''] === 'premium'
  const most = isNova(model) ? 1024 : 512
  const isLarge = width * height > most * most
  if (isNova(model)) return (2 + (isLarge ? 1 : 0) + (isPremium ? 1 : 0)) / 3
  return 1 + (isLarge ? 0.25 : 0) + (isPremium ? 0.25 : 0)
}

function encodeAmazon({ prompt, images, n, size, quality }: ImageRequest): JsonObject {
  const config: JsonObject = { numberOfImages: n, ...parseSize(size) }
  const theirs = QUALITIES[quality ?? '']
  if (theirs !== undefined) config.quality = theirs
  if (images === undefined) {
    return { taskType: 'TEXT_IMAGE', textToImageParams: { text: prompt }, imageGenerationConfig: config }
  }
  return {
    taskType: 'IMAGE_VARIATION',
    imageVariationParams: { text: prompt, images: images.map(toBase64) },
    imageGenerationConfig: config,
  }
}

function encodeStability({ prompt, size, outputFormat }: ImageRequest): JsonObject {
  const requestedSize = parseSize(size)
  const ratio = requestedSize === undefined ? undefined : findAspectRatio(requestedSize, STABILITY_RATIOS)
  return {
    prompt,
    ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
    ...(outputFormat === undefined ? {} : { output_format: outputFormat }),
  }
}
