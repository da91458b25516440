import type { JsonObject } from '../json/json-value.ts'
import { type SentBody, toSentJson } from '../json/unwritten-json.ts'
import type { GeneratedImage, ImageReply, ImageUsage } from './image-format.ts'

/**
 * OpenAI's `ImagesResponse`. An image is given as its provider gave it, base64 or address, whatever `response_format`
 * asked for: the gateway makes no address from which any caller could fetch it.
 */
export function encodeImages(reply: ImageReply, created: number): SentBody {
  const body: JsonObject = {
    created,
    data: reply.images.map(toEntry),
    ...(reply.commonFields ?? toCommonFields(reply)),
  }
  if (reply.usage !== undefined) body.usage = encodeUsage(reply.usage)
  return toSentJson(body)
}

function toEntry({ base64, url, revisedPrompt }: GeneratedImage): JsonObject {
  return {
    ...(base64 === undefined ? {} : { b64_json: base64 }),
    ...(url === undefined ? {} : { url }),
    ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
  }
}

/** Returns the fields that describe all images together: `output_format`, if all of them have the same. */
function toCommonFields({ images }: ImageReply): JsonObject {
  const [first] = images
  const format = /^image\/(png|jpeg|webp)$/.exec(first?.mediaType ?? '')?.[1]
  if (format === undefined || images.some(({ mediaType }) => mediaType !== first?.mediaType)) return {}
  return { output_format: format }
}

function encodeUsage(usage: ImageUsage): JsonObject {
  const text = usage.textInput + usage.textCacheRead
  const image = usage.imageInput + usage.imageCacheRead
  const output = usage.textOutput + usage.imageOutput
  return {
    input_tokens: text + image,
    output_tokens: output,
    total_tokens: text + image + output,
    input_tokens_details: { text_tokens: text, image_tokens: image },
    output_tokens_details: { text_tokens: usage.textOutput, image_tokens: usage.imageOutput },
  }
}
