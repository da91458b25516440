import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'

/** What media types are called as a format of `input_audio`, where it is not their second half. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = toTable({
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/l16': 'pcm16',
})

/** A part of a caller of this format as a canonical one; undefined: it is a call, a result, a thought, or has no form. */
export function decodePart(part: JsonObject): ContentPart | undefined {
  if (part.thought === true) return undefined
  if (typeof part.text === 'string') return { type: 'text', text: part.text }
  const inline = toObject(part.inlineData)
  if (inline !== undefined) return decodeInline(inline)
  const file = toObject(part.fileData)
  return file === undefined ? undefined : decodeFile(file)
}

function decodeInline({ mimeType, data, displayName }: JsonObject): ContentPart {
  const type = toText(mimeType) ?? ''
  // The API takes both alphabets of base64, a data URL one.
  const base64 = (toText(data) ?? '').replaceAll('-', '+').replaceAll('_', '/')
  const url = `data:${type};base64,${base64}`
  if (/^image\//i.test(type)) return { type: 'image_url', image_url: { url } }
  if (/^audio\//i.test(type)) {
    const known = type.toLowerCase()
    const format = AUDIO_FORMATS[known] ?? known.slice('audio/'.length)
    return { type: 'input_audio', input_audio: { data: base64, format } }
  }
  const filename = toText(displayName) ?? (type === 'application/pdf' ? 'document.pdf' : undefined)
  return { type: 'file', file: { file_data: url, ...(filename === undefined ? {} : { filename }) } }
}

const IMAGE_END = /\.(?:png|jpe?g|webp|heic|heif|gif)(?:[?#]|$)/i

function decodeFile({ mimeType, fileUri, displayName }: JsonObject): ContentPart {
  const url = toText(fileUri) ?? ''
  const type = toText(mimeType)
  const isImage = type === undefined ? IMAGE_END.test(url.slice(-200)) : /^image\//i.test(type)
  if (isImage) return { type: 'image_url', image_url: { url } }
  const filename = toText(displayName)
  return { type: 'file', file: { file_url: url, ...(filename === undefined ? {} : { filename }) } }
}

/**
 * An address that means something at the provider only: a file that was uploaded there, or one in a bucket that its
 * account may read.
 */
export function isKeptAtProvider(fileUri: string): boolean {
  return !/^https?:\/\//i.test(fileUri) || /\/v\w+\/files\/[^/]+$/.test(fileUri)
}
