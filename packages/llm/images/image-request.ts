import {
  invalid,
  listAt,
  objectAt,
  optionalChoice,
  optionalFlag,
  optionalNumber,
  optionalText,
  set,
  textAt,
} from '../formats/shared/reading/read-fields.ts'
import { assertNoReservedFields } from '../formats/shared/requests/reserved-fields.ts'
import { decodeBase64, readFirst } from '../json/base64.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { isObject } from '../json/json-value.ts'
import type { SentBody } from '../json/unwritten-json.ts'
import { JsonTexts } from '../upstream/json-texts.ts'
import type { ImageRequest, ImageSource } from './image-format.ts'
import { findImageType } from './image-type.ts'
import { namesImage } from './names-image.ts'

/** Fields that are read here; others pass on to providers that speak OpenAI's format. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'response_format',
  'background',
  'output_format',
  'user',
  'stream',
  'partial_images',
  'end_user',
])
const OF_EDITS = ['images', 'mask']
/** Fields that pass on unread and change no price, whoever sends them. */
const HARMLESS: ReadonlySet<string> = new Set(['output_compression', 'style'])
const ALL: ReadonlySet<string> = new Set([...KNOWN, ...OF_EDITS])
const UNREAD_IMAGE = 'may have no image, which would not be priced: the images of an edit stand in `images`.'
const COUNT = { min: 1, max: 10, integer: true }
/** OpenAI's limit. */
const MAX_SOURCES = 16

/** The images that an edit is about. */
export interface EditSources {
  readonly images: readonly ImageSource[]
  readonly mask: ImageSource | undefined
}

/** A body of `/images/generations`, or the fields of an edit in either form, as OpenAI has them. */
export function parseImageRequest(body: JsonObject, sources: EditSources | undefined): ImageRequest {
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const prompt = textAt(body.prompt, 'prompt')
  if (prompt === '') throw invalid('prompt', 'must not be empty.')
  if (optionalFlag(body, 'stream') === true) throw invalid('stream', 'images are not streamed here.')
  if ((optionalNumber(body, 'partial_images') ?? 0) !== 0) {
    throw invalid('partial_images', 'images are not streamed here.')
  }
  const request: { -readonly [K in keyof ImageRequest]: ImageRequest[K] } = {
    model,
    prompt,
    n: optionalNumber(body, 'n', COUNT) ?? 1,
  }
  set(request, 'size', optionalText(body, 'size'))
  set(request, 'quality', optionalText(body, 'quality'))
  set(request, 'background', optionalText(body, 'background'))
  set(request, 'outputFormat', optionalText(body, 'output_format'))
  set(request, 'responseFormat', optionalChoice(body, 'response_format', ['url', 'b64_json']))
  set(request, 'user', optionalText(body, 'user'))
  set(request, 'images', sources?.images)
  set(request, 'mask', sources?.mask)
  set(request, 'rest', findRest(body, sources !== undefined))
  return request
}

/** The first field that no end user may set: one that would be passed on unread, or `n` above 1, since every image is billed. */
export function findPassedOn(body: JsonObject, { n }: Pick<ImageRequest, 'n'>): string | undefined {
  const unread = Object.keys(body).find(
    name => body[name] !== null && !KNOWN.has(name) && !OF_EDITS.includes(name) && !HARMLESS.has(name),
  )
  return unread ?? (n > 1 ? 'n' : undefined)
}

function findRest(body: JsonObject, isEdit: boolean): JsonObject | undefined {
  assertNoReservedFields(body, ALL)
  const texts = new JsonTexts()
  const rest: [string, Json | undefined][] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === null || KNOWN.has(name) || (isEdit && OF_EDITS.includes(name))) continue
    if (OF_EDITS.includes(name)) throw invalid(name, 'belongs to edits.')
    if (value !== undefined && namesImage(name, value, texts)) throw invalid(name, UNREAD_IMAGE)
    rest.push([name, value])
  }
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/** `images` and `mask` of an edit that comes as JSON: data URLs or addresses. */
export function parseSources(body: JsonObject): EditSources {
  const list = listAt(body.images, 'images')
  assertSourceCount(list.length)
  const { mask } = body
  return {
    images: list.map((image, index) => parseSource(image, `images[${index}]`)),
    mask: mask === undefined || mask === null ? undefined : parseSource(mask, 'mask'),
  }
}

export function assertSourceCount(count: number): void {
  if (count < 1 || count > MAX_SOURCES) throw invalid('images', `must be 1 to ${MAX_SOURCES}.`)
}

function parseSource(value: Json, path: string): ImageSource {
  const { file_id: fileId, image_url: image } = objectAt(value, path)
  if (fileId !== undefined && fileId !== null) {
    throw invalid(
      `${path}.file_id`,
      "may not be set here: files in a provider's store are not the caller's own.",
    )
  }
  const at = `${path}.image_url`
  const url = textAt(isObject(image) ? image.url : image, at)
  if (/^https?:/i.test(url)) return { kind: 'url', url }
  const data = /^data:[^,]{0,200};base64,/i.exec(url)
  if (data === null) throw invalid(at, 'must be a data URL in base64, or an address that begins with https:.')
  return toSource(decodeBase64(url.slice(data[0].length)), at)
}

/** Returns an image with the type that its first bytes show: its name may be anything. */
export function toSource(bytes: SentBody, path: string): Extract<ImageSource, { kind: 'data' }> {
  const mediaType = findImageType(readFirst(bytes))
  if (mediaType === undefined) throw invalid(path, 'is not an image that we know.')
  return { kind: 'data', mediaType, bytes }
}
