import { invalid } from '@rideau/llm/formats/shared/read-fields'
import { RequestError } from '@rideau/llm/formats/shared/request-error'
import { checkSources, type EditSources, toSource } from '@rideau/llm/images/image-request'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import { type FormPart, type FormProblem, FormScan } from '../../http/form-scan.ts'
import { runInSlices } from '../../http/sliced-work.ts'

/** A longer body is parsed in slices. */
const SHORT_BYTES = 256 * 1024
/** Limit on all fields that are not files. No provider accepts a prompt half as long. */
const MAX_TEXT_BYTES = 256 * 1024
/** Form fields are texts; these are numbers in JSON. */
const NUMBERS: ReadonlySet<string> = new Set(['n', 'output_compression', 'partial_images'])
const FLAGS: ReadonlySet<string> = new Set(['stream'])
const IMAGE_FIELD = /^image(?:\[\d*\])?$/

export interface ImageForm {
  readonly value: JsonObject
  readonly sources: EditSources
}

/**
 * Parses an image edit in `multipart/form-data`, as OpenAI's clients send it. Rejects with the error that `findStop`
 * returns.
 */
export async function parseImageForm(
  bytes: Buffer,
  contentType: string,
  findStop: () => Error | undefined,
): Promise<ImageForm> {
  const value = new Map<string, Json>()
  const images: FormPart[] = []
  let mask: FormPart | undefined
  let textBytes = 0
  for (const part of await readParts(bytes, contentType, findStop)) {
    const { name } = part
    const param = excerptName(name)
    if (part.isFile) {
      if (IMAGE_FIELD.test(name)) images.push(part)
      else if (name === 'mask' && mask === undefined) mask = part
      else
        throw name === 'mask'
          ? duplicateField(name)
          : invalid(param, 'must not be a file; only image and mask are.')
    } else if (IMAGE_FIELD.test(name) || name === 'images' || name === 'mask') {
      throw invalid(param, 'must be a file.')
    } else if (value.has(name)) {
      throw duplicateField(param)
    } else if (name === '__proto__') {
      throw new RequestError(
        'request_validation_failed',
        '__proto__: is not accepted as the name of a field.',
        {
          param: '__proto__',
        },
      )
    } else {
      textBytes += part.bytes.length
      if (textBytes > MAX_TEXT_BYTES) throw new RequestError('request_too_large', TOO_LONG, { param })
      value.set(name, toValue(name, part.bytes.toString('utf8')))
    }
  }
  checkSources(images.length)
  return {
    value: Object.fromEntries(value),
    sources: {
      images: images.map(image => toSource(image.bytes, 'image')),
      mask: mask === undefined ? undefined : toSource(mask.bytes, 'mask'),
    },
  }
}

async function readParts(
  bytes: Buffer,
  contentType: string,
  findStop: () => Error | undefined,
): Promise<readonly FormPart[]> {
  const scan = new FormScan(bytes, contentType)
  if (bytes.length > SHORT_BYTES) {
    await runInSlices(scan, () => findStop() !== undefined)
    const stop = findStop()
    if (stop !== undefined) throw stop
  } else while (!scan.step());
  if (scan.problem !== undefined) throw new RequestError('request_validation_failed', PROBLEMS[scan.problem])
  return scan.parts
}

const PROBLEMS: Readonly<Record<FormProblem, string>> = {
  malformed: 'The body must be valid multipart/form-data.',
  no_boundary: 'The Content-Type of a form must name its boundary.',
  too_many_parts: 'The form has too many parts.',
  long_header: 'The header of each part of the form must have at most 4 KiB.',
  encoded: 'A part of the form has a transfer encoding. Send its bytes unencoded.',
}

const TOO_LONG = 'The fields of the form that are not files must have at most 256 KiB together.'

function toValue(name: string, text: string): Json {
  if (NUMBERS.has(name) && /^\d{1,9}$/.test(text)) return Number(text)
  if (FLAGS.has(name) && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function duplicateField(param: string): RequestError {
  return new RequestError('request_validation_failed', `${param}: must not be given twice.`, { param })
}
