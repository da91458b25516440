import { isBlank } from '../../../json/is-blank.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'

/** Characters that AWS refuses in a document's name: it takes letters, digits, single spaces, hyphens and brackets. */
const FOREIGN_IN_NAME = /[^A-Za-z0-9()[\] -]+/g

/** The part of a file's name that is read. */
const MAX_FILE_NAME = 512

/** Document formats by media type; text of any other kind is `txt`. */
const DOCUMENT_FORMATS: Readonly<Record<string, string>> = toTable({
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
})

/** A block, and the cache point that must follow it. */
export type Blocks = readonly JsonObject[]

/**
 * Returns the parts of a message as blocks. Blank texts are left out, because Converse refuses them. `documents` counts the
 * documents of the request, whose names must differ.
 */
export function encodeContent(
  content: string | readonly ContentPart[] | null | undefined,
  options: { readonly cachePoints: boolean; readonly documents: { count: number } },
): Blocks[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return isBlank(content) ? [] : [[{ text: content }]]
  const all: Blocks[] = []
  for (const part of content) {
    const block = encodePart(part, options.documents)
    const cache = options.cachePoints ? toCachePoint(part.cache_control) : undefined
    // The cache mark of a blank text goes behind the block before it.
    const group = [block, cache].filter(entry => entry !== undefined)
    if (block !== undefined || all.length > 0) all.push(group)
  }
  return all
}

/** Returns the block for a cache mark on a part; undefined: there is no mark. */
export function toCachePoint(mark: JsonObject[string]): JsonObject | undefined {
  const cache = toObject(mark)
  if (cache === undefined) return undefined
  return { cachePoint: { type: 'default', ...(cache.ttl === '1h' ? { ttl: '1h' } : {}) } }
}

function encodePart(part: ContentPart, documents: { count: number }): JsonObject | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = toText(part[part.type]) ?? ''
      return isBlank(text) ? undefined : { text }
    }
    case 'image_url':
      return encodeImage(toText(toObject(part.image_url)?.url) ?? '')
    case 'file':
      return encodeDocument(toObject(part.file) ?? {}, documents)
    case 'input_audio': {
      const audio = toObject(part.input_audio)
      return { audio: { format: audio?.format ?? 'wav', source: { bytes: audio?.data ?? '' } } }
    }
    default:
      return undefined
  }
}

/** Converse fetches no addresses, so the gateway has replaced them by data URLs before (ClientFormat.inlinesImages). */
function encodeImage(url: string): JsonObject {
  const { mediaType, data } = parseDataUrl(url)
  const format = mediaType.replace(/^image\//, '').replace(/^jpg$/, 'jpeg')
  return { image: { format: format || 'png', source: { bytes: data } } }
}

/** undefined: the file is named by an address or an id, which Converse does not take. The request is refused, or drops the file. */
function encodeDocument(file: JsonObject, documents: { count: number }): JsonObject | undefined {
  const url = toText(file.file_data)
  if (url === undefined) return undefined
  const { mediaType, data } = parseDataUrl(url)
  const filename = (toText(file.filename) ?? '').slice(0, MAX_FILE_NAME)
  const extension = /\.([a-z]{2,4})$/i.exec(filename)?.[1]?.toLowerCase()
  const known = Object.values(DOCUMENT_FORMATS).find(format => format === extension)
  const format = DOCUMENT_FORMATS[mediaType] ?? known ?? (mediaType.startsWith('text/') ? 'txt' : 'pdf')
  documents.count++
  const base = filename
    .replace(/\.[a-z]{2,4}$/i, '')
    .replace(FOREIGN_IN_NAME, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, 100)
  const name = `${base === '' ? 'Document' : base} ${documents.count}`
  return { document: { format, name, source: { bytes: data } } }
}

/** Splits `data:image/png;base64,…` into media type and data. Any other text is data of an unknown type. */
function parseDataUrl(url: string): { mediaType: string; data: string } {
  const comma = url.indexOf(',')
  if (!url.startsWith('data:') || comma === -1) return { mediaType: '', data: url }
  return { mediaType: url.slice(5, comma).split(';', 1)[0] ?? '', data: url.slice(comma + 1) }
}
