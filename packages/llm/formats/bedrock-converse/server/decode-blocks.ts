import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'

/** Media types of documents that are no text. */
const MEDIA_TYPES: Readonly<Record<string, string>> = toTable({
  pdf: 'application/pdf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
})

/** The blocks of a message, and where they stand. */
export interface PlacedBlocks {
  readonly blocks: readonly JsonObject[]
  readonly path: string
}

/**
 * Blocks as canonical parts; a cache point is a mark on the part before it. What no other format has is named in
 * `nativeOnly`. Calls, results and reasoning are no parts.
 */
export function decodeParts({ blocks, path }: PlacedBlocks, nativeOnly: string[]): ContentPart[] {
  const parts: ContentPart[] = []
  for (const [at, block] of blocks.entries()) {
    if (block.cachePoint !== undefined) {
      const last = parts.at(-1)
      // Behind a result of a tool it is a mark on that.
      if (last !== undefined && blocks[at - 1]?.toolResult === undefined) {
        last.cache_control = toCacheControl(block.cachePoint)
      }
      continue
    }
    const decoded = decodeBlock(block)
    if (decoded === undefined) nativeOnly.push(`${path}[${at}]`)
    else parts.push(...decoded)
    if (toObject(toObject(block.document)?.citations)?.enabled === true) {
      nativeOnly.push(`${path}[${at}].document.citations`)
    }
  }
  return parts
}

export function toCacheControl(point: Json | undefined): JsonObject {
  return { type: 'ephemeral', ...(toObject(point)?.ttl === '1h' ? { ttl: '1h' } : {}) }
}

/** Parts as a message has them: nothing but text is one string, unless a mark stands in it. */
export function toContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts
  if (first === undefined) return ''
  const isText = parts.length === 1 && first.type === 'text' && first.cache_control === undefined
  return isText ? String(first.text) : parts
}

/** undefined: nobody else knows such a block. */
function decodeBlock(block: JsonObject): ContentPart[] | undefined {
  const kind = Object.keys(block).find(name => block[name] !== undefined && block[name] !== null)
  if (kind === undefined) return []
  return Object.hasOwn(BLOCKS, kind) ? BLOCKS[kind]?.(block[kind]) : undefined
}

const BLOCKS: Readonly<Record<string, (value: Json | undefined) => ContentPart[]>> = toTable({
  text: value => toTextPart(toText(value)),
  json: value => toTextPart(toJsonText(value ?? {})),
  // Marked for a guardrail; to the model it is text.
  guardContent: value => toTextPart(toText(toObject(toObject(value)?.text)?.text)),
  citationsContent: value =>
    toObjects(toObject(value)?.content).flatMap(({ text }) => toTextPart(toText(text))),
  image: value => {
    const image = toObject(value)
    const url = `data:image/${toText(image?.format) ?? 'png'};base64,${readBytes(image)}`
    return [{ type: 'image_url', image_url: { url } }]
  },
  audio: value => {
    const audio = toObject(value)
    return [{ type: 'input_audio', input_audio: { format: audio?.format ?? 'wav', data: readBytes(audio) } }]
  },
  document: value => decodeDocument(toObject(value) ?? {}),
  searchResult: value => {
    const { title, source, content } = toObject(value) ?? {}
    const head = [toText(title), toText(source)].filter(each => each !== undefined).join('\n')
    return [...toTextPart(head), ...toObjects(content).flatMap(({ text }) => toTextPart(toText(text)))]
  },
  // Read apart.
  toolUse: () => [],
  toolResult: () => [],
  reasoningContent: () => [],
})

/** Documents of text are told as text, which every model reads. */
function decodeDocument({ name: given, format: kind, source: from, context }: JsonObject): ContentPart[] {
  const source = toObject(from)
  const about = toTextPart(toText(context))
  const name = toText(given) ?? 'Document'
  const format = toText(kind) ?? 'txt'
  const mediaType = MEDIA_TYPES[format]
  if (source?.content !== undefined) {
    const parts = toObjects(source.content).flatMap(({ text }) => toTextPart(toText(text)))
    return [...about, ...toTextPart(name), ...parts]
  }
  const data = toText(source?.bytes) ?? ''
  if (mediaType === undefined || source?.text !== undefined) {
    const text = toText(source?.text) ?? Buffer.from(data, 'base64').toString('utf8')
    return [...about, ...toTextPart(name), ...toTextPart(text)]
  }
  const file = { filename: `${name}.${format}`, file_data: `data:${mediaType};base64,${data}` }
  return [...about, { type: 'file', file }]
}

function readBytes(media: JsonObject | undefined): string {
  return toText(toObject(media?.source)?.bytes) ?? ''
}

function toTextPart(text: string | undefined): ContentPart[] {
  return text === undefined || text === '' ? [] : [{ type: 'text', text }]
}
