import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'

/** Blocks of a caller of this format as canonical parts; what has no canonical form is left out. */
export function decodeParts(content: Json | undefined): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return toObjects(content).flatMap(block => {
    const parts = BLOCKS[String(block.type)]?.(block) ?? []
    const last = parts.at(-1)
    const cacheControl = toObject(block.cache_control)
    if (last !== undefined && cacheControl !== undefined) last.cache_control = cacheControl
    return parts
  })
}

/** Parts as a message has them: nothing but text is one string, unless a breakpoint of the cache stands in it. */
export function toContent(parts: ContentPart[], separator: string): string | ContentPart[] {
  const isText = parts.every(({ type, cache_control }) => type === 'text' && cache_control === undefined)
  return isText ? parts.map(({ text }) => String(text)).join(separator) : parts
}

const BLOCKS: Readonly<Record<string, (block: JsonObject) => ContentPart[]>> = toTable({
  text: ({ text }) => toTextPart(toText(text)),
  image: ({ source }) => {
    const url = toUrl(toObject(source))
    return url === undefined ? [] : [{ type: 'image_url', image_url: { url } }]
  },
  document: decodeDocument,
  search_result: ({ title, source, content }) => {
    const head = [toText(title), toText(source)].filter(each => each !== undefined).join('\n')
    return [...toTextPart(toText(head)), ...decodeParts(content)]
  },
  tool_reference: ({ tool_name }) => toTextPart(toText(tool_name)),
})

function decodeDocument({ source: given, title, context }: JsonObject): ContentPart[] {
  const source = toObject(given)
  const filename = toText(title)
  const about = toTextPart(toText(context))
  if (source?.type === 'text') {
    return [...about, ...toTextPart(filename), ...toTextPart(toText(source.data))]
  }
  if (source?.type === 'content') return [...about, ...toTextPart(filename), ...decodeParts(source.content)]
  const url = toUrl(source)
  const name = filename === undefined ? {} : { filename }
  if (url === undefined) {
    const fileId = toText(source?.file_id)
    return fileId === undefined ? [] : [{ type: 'file', file: { file_id: fileId, ...name } }]
  }
  const address = url.startsWith('data:') ? { filename: 'document.pdf', file_data: url } : { file_url: url }
  return [...about, { type: 'file', file: { ...address, ...name } }]
}

function toTextPart(text: string | undefined): ContentPart[] {
  return text === undefined ? [] : [{ type: 'text', text }]
}

function toUrl(source: JsonObject | undefined): string | undefined {
  if (source?.type !== 'base64') return toText(source?.url)
  const data = toText(source.data)
  return data === undefined ? undefined : `data:${toText(source.media_type) ?? ''};base64,${data}`
}
