import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import { assertSourceCount, type EditSources, toSource } from '@rideau/llm/images/image-request'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import type { FormPart } from '../../http/body/form-scan.ts'
import { duplicateField, FormTexts, readForm } from './read-form.ts'

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
  owner: ShareOwner,
): Promise<ImageForm> {
  const value = new Map<string, Json>()
  const images: FormPart[] = []
  let mask: FormPart | undefined
  const texts = new FormTexts()
  for (const part of await readForm(bytes, contentType, findStop, owner)) {
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
    } else {
      value.set(name, toValue(name, texts.read(part, param)))
    }
  }
  assertSourceCount(images.length)
  return {
    value: Object.fromEntries(value),
    sources: {
      images: images.map(image => toSource(image.bytes, 'image')),
      mask: mask === undefined ? undefined : toSource(mask.bytes, 'mask'),
    },
  }
}

function toValue(name: string, text: string): Json {
  if (NUMBERS.has(name) && /^\d{1,9}$/.test(text)) return Number(text)
  if (FLAGS.has(name) && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
