import type { Base64Texts } from '../../../json/base64-texts.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import { listLostParts } from '../../shared/requests/lost-params.ts'

/** Returns a message's content as blocks. Empty texts are left out, because the provider refuses them. */
export function encodeContent(
  content: string | readonly ContentPart[] | null | undefined,
  texts: Base64Texts,
): JsonObject[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return encodeText(content)
  return content.flatMap(part => {
    const blocks = PARTS[part.type]?.(part, texts) ?? []
    const last = blocks.at(-1)
    // A cache breakpoint stays at the part that the caller set it on.
    if (last !== undefined && toObject(part.cache_control) !== undefined) {
      last.cache_control = part.cache_control
    }
    return blocks
  })
}

export function encodeText(text: string): JsonObject[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

const PARTS: Readonly<Record<string, (part: ContentPart, texts: Base64Texts) => JsonObject[]>> = toTable({
  text: part => encodeText(toText(part.text) ?? ''),
  refusal: part => encodeText(toText(part.refusal) ?? ''),
  image_url: part => {
    const url = toText(toObject(part.image_url)?.url)
    return url === undefined ? [] : [{ type: 'image', source: toSource(url) }]
  },
  file: (part, texts) => encodeFile(toObject(part.file), texts),
})

function encodeFile(file: JsonObject | undefined, texts: Base64Texts): JsonObject[] {
  const url = toText(file?.file_data) ?? toText(file?.file_url)
  if (url === undefined) return []
  const title = toText(file?.filename)
  const source = toSource(url)
  return [
    {
      type: 'document',
      source: isPlainText(source) ? toTextSource(source, texts) : source,
      ...(title === undefined ? {} : { title }),
    },
  ]
}

/** A data URL becomes its bytes; the provider itself fetches any other address. */
function toSource(url: string): JsonObject {
  const head = url.slice(0, url.indexOf(',') + 1).toLowerCase()
  if (!head.startsWith('data:') || !head.endsWith(';base64,')) return { type: 'url', url }
  const mediaType = head.slice('data:'.length, head.indexOf(';'))
  return {
    type: 'base64',
    media_type: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType,
    data: url.slice(head.length),
  }
}

function isPlainText(source: JsonObject): boolean {
  return typeof source.media_type === 'string' && source.media_type.startsWith('text/')
}

function toTextSource({ data }: JsonObject, texts: Base64Texts): JsonObject {
  return { type: 'text', media_type: 'text/plain', data: texts.decode(String(data)) }
}

const KINDS: ReadonlySet<string> = new Set(Object.keys(PARTS))

/** Returns the types of parts that this format has no block for, and `file_id` for a file in another provider's store. */
export function listUnknownParts(messages: readonly Message[]): string[] {
  return listLostParts(messages, KINDS, file => toText(file?.file_id) !== undefined)
}
