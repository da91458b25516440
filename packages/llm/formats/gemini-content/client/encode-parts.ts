import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { UnwrittenBase64 } from '../../../json/unwritten-base64.ts'
import type { ContentPart } from '../../../request/message.ts'

/** Media types by formats of `input_audio`, if they are not `audio/` and the format. */
const AUDIO_TYPES: Readonly<Record<string, string>> = toTable({ mp3: 'audio/mp3', pcm16: 'audio/L16' })

/** Media types by the end of an address. */
const TYPES_BY_END: Readonly<Record<string, string>> = toTable({
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  gif: 'image/gif',
  pdf: 'application/pdf',
  mp4: 'video/mp4',
  wav: 'audio/wav',
  mp3: 'audio/mp3',
})

/** Content as Gemini's parts. An empty text is left out: Vertex AI refuses it. */
export function encodeParts(content: string | readonly ContentPart[] | null | undefined): JsonObject[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [{ text: content }]
  return content.map(encodePart).filter(part => part !== undefined)
}

export function isPartKnown(part: ContentPart): boolean {
  return part.type === 'text' || encodePart(part) !== undefined
}

/** undefined: the API has no such part. */
function encodePart(part: ContentPart): JsonObject | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = toText(part[part.type])
      return text === undefined ? undefined : { text }
    }
    case 'image_url':
      return encodeUrl(toText(toObject(part.image_url)?.url) ?? toText(part.image_url))
    case 'file':
      return encodeUrl(toText(toObject(part.file)?.file_data) ?? toText(toObject(part.file)?.file_url))
    case 'input_audio':
      return encodeAudio(toObject(part.input_audio))
    default:
      return undefined
  }
}

/** A data URL becomes inline data. The provider fetches other addresses, such as `gs://`. */
function encodeUrl(url: string | undefined): JsonObject | undefined {
  if (url === undefined) return undefined
  if (!/^data:/i.test(url)) return encodeAddress(url)
  const comma = url.indexOf(',')
  const head = url.slice(5, comma === -1 ? 5 : comma)
  if (!/;base64$/i.test(head)) return undefined
  const [mimeType = ''] = head.split(';', 1)
  return { inlineData: { mimeType, data: url.slice(comma + 1) } }
}

function encodeAddress(fileUri: string): JsonObject | undefined {
  if (!/^(?:https?|gs):\/\//i.test(fileUri)) return undefined
  const end = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(fileUri.slice(-200))?.[1]?.toLowerCase() ?? ''
  const mimeType = TYPES_BY_END[end]
  return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri } }
}

function encodeAudio(audio: JsonObject | undefined): JsonObject | undefined {
  const data = audio?.data instanceof UnwrittenBase64 ? audio.data : toText(audio?.data)
  const format = toText(audio?.format)
  if (data === undefined || format === undefined) return undefined
  return { inlineData: { mimeType: AUDIO_TYPES[format] ?? `audio/${format}`, data } }
}
