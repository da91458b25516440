import { invalid } from '../formats/shared/read-fields.ts'
import { RequestError } from '../formats/shared/request-error.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { checkSources, type EditSources, toSource } from './image-request.ts'

/** More parts than any edit has: each costs more to parse than to send. */
const MAX_PARTS = 100
/** A form has texts only; these are something else in JSON. */
const NUMBERS: ReadonlySet<string> = new Set(['n', 'output_compression', 'partial_images'])
const FLAGS: ReadonlySet<string> = new Set(['stream'])
const IMAGE_FIELD = /^image(?:\[\d*\])?$/

export interface ImageForm {
  readonly value: JsonObject
  readonly sources: EditSources
}

/** An edit as OpenAI's own clients send it: `multipart/form-data`. */
export async function parseImageForm(bytes: Buffer, contentType: string): Promise<ImageForm> {
  refuseManyParts(bytes, contentType)
  let form: FormData
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw new RequestError('request_validation_failed', 'The body is not a valid form.', { cause })
  }
  const value = new Map<string, Json>()
  const images: File[] = []
  let mask: File | undefined
  for (const [name, part] of form) {
    if (typeof part !== 'string') {
      if (IMAGE_FIELD.test(name)) images.push(part)
      else if (name === 'mask' && mask === undefined) mask = part
      else throw name === 'mask' ? doubled(name) : invalid(name, 'is not a file of this request.')
    } else if (IMAGE_FIELD.test(name) || name === 'images' || name === 'mask') {
      throw invalid(name, 'must be a file.')
    } else if (name === '__proto__') {
      throw new RequestError('request_validation_failed', '__proto__: a field may not have this name.', {
        param: '__proto__',
      })
    } else if (value.has(name)) {
      throw doubled(name)
    } else {
      value.set(name, toValue(name, part))
    }
  }
  checkSources(images.length)
  return {
    value: Object.fromEntries(value),
    sources: {
      images: await Promise.all(images.map(async file => toSource(await readFile(file), 'image'))),
      mask: mask === undefined ? undefined : toSource(await readFile(mask), 'mask'),
    },
  }
}

async function readFile(file: File): Promise<Buffer> {
  return Buffer.from(await file.arrayBuffer())
}

function toValue(name: string, text: string): Json {
  if (NUMBERS.has(name) && /^\d{1,9}$/.test(text)) return Number(text)
  if (FLAGS.has(name) && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function refuseManyParts(bytes: Buffer, contentType: string): void {
  const [, quoted, bare] = /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw new RequestError('request_validation_failed', 'The form has no boundary.')
  const mark = `--${boundary}`
  let parts = 0
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
    if (++parts > MAX_PARTS)
      throw new RequestError('request_validation_failed', 'The form has too many parts.')
  }
}

function doubled(param: string): RequestError {
  return new RequestError('request_validation_failed', 'The form has a field twice.', { param })
}
