import type { Base64Texts } from '../../../json/base64-texts.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'
import { invalid, objectAt } from '../../shared/reading/read-fields.ts'
import { findOtherField } from '../../shared/tools/tool-fields.ts'
import { SOURCE } from '../wire/block-rules.ts'

/** Media types of documents that are not text. */
const MEDIA_TYPES: Readonly<Record<string, string>> = toTable({
  pdf: 'application/pdf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
})

/** Fields that hold the content itself. Any other field names an object in the account's store. */
const SOURCE_FIELDS: ReadonlySet<string> = new Set(SOURCE.fields?.names)

/** An image, document, audio or video with its source. Throws RequestError if the content is not in the body. */
export interface Media {
  readonly media: JsonObject
  readonly source: JsonObject
}

export function parseMedia(value: Json | undefined, path: string): Media {
  const media = objectAt(value, path)
  const source = objectAt(media.source, `${path}.source`)
  const other = findOtherField(source, SOURCE_FIELDS)
  if (other !== undefined) throw invalid(`${path}.source.${other}`, 'may not be set here: send the bytes.')
  return { media, source }
}

export function toImagePart({ media, source }: Media): ContentPart {
  const url = `data:image/${toText(media.format) ?? 'png'};base64,${toText(source.bytes) ?? ''}`
  return { type: 'image_url', image_url: { url } }
}

export function toAudioPart({ media, source }: Media): ContentPart {
  const audio = { format: media.format ?? 'wav', data: toText(source.bytes) ?? '' }
  return { type: 'input_audio', input_audio: audio }
}

/** Documents of text become text, because every model reads it. */
export function addDocument(parts: ContentPart[], { media, source }: Media, texts: Base64Texts): void {
  addText(parts, toText(media.context))
  const name = toText(media.name) ?? 'Document'
  const format = toText(media.format) ?? 'txt'
  const mediaType = MEDIA_TYPES[format]
  const data = toText(source.bytes) ?? ''
  if (source.content !== undefined) {
    addText(parts, name)
    addTextsOf(parts, source.content)
  } else if (mediaType === undefined || source.text !== undefined) {
    addText(parts, name)
    addText(parts, toText(source.text) ?? texts.decode(data))
  } else {
    const file = { filename: `${name}.${format}`, file_data: `data:${mediaType};base64,${data}` }
    parts.push({ type: 'file', file })
  }
}

/** True if the model is asked to cite the document, which other formats have no field for. */
export function hasCitations({ media }: Media): boolean {
  return toObject(media.citations)?.enabled === true
}

/** Adds the texts of a list of objects with a text, one by one: a call with that many arguments may overflow the stack. */
export function addTextsOf(parts: ContentPart[], value: Json | undefined): void {
  for (const { text } of toObjects(value)) addText(parts, toText(text))
}

export function addText(parts: ContentPart[], text: string | undefined): void {
  if (text !== undefined && text !== '') parts.push({ type: 'text', text })
}
