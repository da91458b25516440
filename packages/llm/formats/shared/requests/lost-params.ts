import type { Json } from '../../../json/json-value.ts'
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

/** The extra fields that ask for something, except those that are passed on. */
export function listLostExtras({ extra }: ChatRequest, passedOn: readonly string[]): string[] {
  const lost: string[] = []
  if (extra === undefined) return lost
  for (const [name, value] of extra) {
    if (!passedOn.includes(name) && isLostExtra(name, value)) lost.push(name)
  }
  return lost
}

/** Kinds of parts that a target has no place for, and ids of files in another company's store. */
export function listLostParts(messages: readonly Message[], known: ReadonlySet<string>): string[] {
  const lost = new Set<string>()
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (!known.has(part.type)) lost.add(part.type)
      else if (part.type === 'file' && toText(toObject(part.file)?.file_data) === undefined)
        lost.add('file_id')
    }
  }
  return [...lost]
}

export function isFileByAddress({ type, file }: ContentPart): boolean {
  const named = type === 'file' ? toObject(file as Json) : undefined
  return toText(named?.file_url) !== undefined && toText(named?.file_data) === undefined
}
