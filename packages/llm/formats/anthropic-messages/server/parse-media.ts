import type { JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { ContentPart } from '../../../request/message.ts'

/** `other`: no other format has such a source, such as a stored file. undefined: the source is empty. */
export function parseImage(source: JsonObject): ContentPart | 'other' | undefined {
  if (source.type !== 'base64' && source.type !== 'url') return 'other'
  const url = toUrl(source)
  return url === undefined ? undefined : { type: 'image_url', image_url: { url } }
}

/** A document that is a file; undefined: the source is empty. */
export function parseDocument(
  source: JsonObject,
  title: string | undefined,
): { readonly part: ContentPart; readonly isStored: boolean } | undefined {
  const url = toUrl(source)
  const file: JsonObject = {}
  if (url === undefined) {
    const fileId = toText(source.file_id)
    if (fileId === undefined) return undefined
    file.file_id = fileId
  } else if (url.startsWith('data:')) {
    file.filename = 'document.pdf'
    file.file_data = url
  } else file.file_url = url
  if (title !== undefined) file.filename = title
  return { part: { type: 'file', file }, isStored: url === undefined }
}

function toUrl(source: JsonObject): string | undefined {
  if (source.type !== 'base64') return toText(source.url)
  const data = toText(source.data)
  return data === undefined ? undefined : `data:${toText(source.media_type) ?? ''};base64,${data}`
}
