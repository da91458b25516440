import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'

/** Formats of `input_audio` by media type, if they are not its second half. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = toTable({
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/l16': 'pcm16',
})

/** Data that stands in the request as an image, audio or a file. */
export function toInlinePart(mimeType: string, data: string, displayName: string | undefined): ContentPart {
  // Gemini takes both alphabets of base64, a data URL one.
  const base64 = toStandardAlphabet(data)
  const url = `data:${mimeType};base64,${base64}`
  if (/^image\//i.test(mimeType)) return { type: 'image_url', image_url: { url } }
  if (/^audio\//i.test(mimeType)) {
    const known = mimeType.toLowerCase()
    const format = AUDIO_FORMATS[known] ?? known.slice('audio/'.length)
    return { type: 'input_audio', input_audio: { data: base64, format } }
  }
  const filename = displayName ?? (mimeType === 'application/pdf' ? 'document.pdf' : undefined)
  return { type: 'file', file: { file_data: url, ...(filename === undefined ? {} : { filename }) } }
}

/** By bytes: replacing in a text takes a second for megabytes of hyphens. Data in base64 is ASCII. */
function toStandardAlphabet(data: string): string {
  if (!/[-_]/.test(data)) return data
  const bytes = Buffer.from(data)
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x2d) bytes[at] = 0x2b
    else if (bytes[at] === 0x5f) bytes[at] = 0x2f
  }
  return bytes.toString()
}

const IMAGE_END = /\.(?:png|jpe?g|webp|heic|heif|gif)(?:[?#]|$)/i

/** An address as an image or a file, by its media type or its end. */
export function toFilePart(
  mimeType: string | undefined,
  url: string,
  filename: string | undefined,
): ContentPart {
  const isImage = mimeType === undefined ? IMAGE_END.test(url.slice(-200)) : /^image\//i.test(mimeType)
  if (isImage) return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { file_url: url, ...(filename === undefined ? {} : { filename }) } }
}
