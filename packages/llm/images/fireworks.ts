import type { JsonObject } from '../json/json-value.ts'
import { toText } from '../json/json-value.ts'
import { toSentJson } from '../json/unwritten-json.ts'
import { joinAddress } from '../upstream/join-address.ts'
import { JSON_HEADERS } from '../upstream/json-headers.ts'
import { type GeneratedImage, type ImageFormat, listParams } from './image-format.ts'
import { FIREWORKS_RULES } from './image-rules.ts'
import { findAspectRatio, parseSize } from './image-size.ts'

const RATIOS = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4']

/** The workflows of Fireworks: `POST /workflows/{model}/text_to_image`, one image a call. Those that edit answer later and are not supported. */
export const fireworksImages: ImageFormat = {
  maxImages: () => 1,
  canEdit: () => false,
  listUnsupportedParams(request) {
    const size = parseSize(request.size)
    const hasShape = size !== undefined && findAspectRatio(size, RATIOS) !== undefined
    return listParams(request).filter(name => !(name === 'size' && hasShape))
  },
  encodeRequest({ prompt, size }, { model, baseUrl }, dropped = []) {
    const requestedSize = dropped.includes('size') ? undefined : parseSize(size)
    const ratio = requestedSize === undefined ? undefined : findAspectRatio(requestedSize, RATIOS)
    const body: JsonObject = ratio === undefined ? { prompt } : { prompt, aspect_ratio: ratio }
    const name = model.split('/').map(encodeURIComponent).join('/')
    return {
      ...joinAddress(baseUrl, `/workflows/${name}/text_to_image`),
      headers: { ...JSON_HEADERS },
      body: toSentJson(body),
      content: { rules: FIREWORKS_RULES, value: body },
    }
  },
  decodeReply(body) {
    const list = Array.isArray(body.base64) ? body.base64 : [body.base64]
    const images = list.map(item => toImage(toText(item))).filter(image => image !== undefined)
    if (toText(body.finishReason) === 'CONTENT_FILTERED')
      return { images: [], usage: undefined, isFiltered: true }
    return images.length === 0 ? undefined : { images, usage: undefined }
  },
}

/** Base64, bare or as a data URL. */
function toImage(text: string | undefined): GeneratedImage | undefined {
  if (text === undefined) return undefined
  const match = /^data:(image\/[\w.+-]+);base64,/.exec(text)
  return match === null
    ? { base64: text }
    : { base64: text.slice(match[0].length), mediaType: match[1] as string }
}
