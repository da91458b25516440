import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ContentPart, Message } from '../../../request/message.ts'
import { isHarmless } from './harmless-params.ts'

/**
 * Returns true if an extra field asks for something. What is kept for the provider's own records counts too, such as
 * `metadata`: the gateway logs it, but the target's provider does not get it.
 */
export function isLostExtra(name: string, value: Json): boolean {
  if (name === 'modalities' && Array.isArray(value) && value.every(item => item === 'text')) return false
  return !isHarmless(name, value)
}

/**
 * Further names are not listed, of which a body may have 21,000 for each target of an alias. No header or record has room for so many.
 * Fewer are hints, which a target may leave out, so a list of this length has one that is none.
 */
const MAX_LISTED = 1_000

/** The first extra fields that ask for something, except those that are passed on. */
export function listLostExtras({ extra }: ChatRequest, passedOn: readonly string[]): string[] {
  const lost: string[] = []
  if (extra === undefined) return lost
  for (const [name, value] of extra) {
    if (passedOn.includes(name) || !isLostExtra(name, value)) continue
    lost.push(name)
    if (lost.length === MAX_LISTED) break
  }
  return lost
}

/** The first kinds of parts that a target has no place for, and ids of files in another company's store. */
export function listLostParts(
  messages: readonly Message[],
  known: ReadonlySet<string>,
  isFileLost: (file: JsonObject | undefined) => boolean = lacksData,
): string[] {
  const lost = new Set<string>()
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (!known.has(part.type)) lost.add(part.type)
      else if (part.type === 'file' && isFileLost(toObject(part.file))) lost.add('file_id')
      if (lost.size === MAX_LISTED) return [...lost]
    }
  }
  return [...lost]
}

function lacksData(file: JsonObject | undefined): boolean {
  return toText(file?.file_data) === undefined
}

export function isFileByAddress({ type, file }: ContentPart): boolean {
  const named = type === 'file' ? toObject(file as Json) : undefined
  return toText(named?.file_url) !== undefined && toText(named?.file_data) === undefined
}
