import type { Json, JsonObject } from '../../../json/json-value.ts'
import { invalid, listAt, objectAt, optionalText, textAt } from '../../shared/read-fields.ts'

/** Checks of what the gateway relies on in the messages of a Cohere body; the provider judges the rest. */

const ROLES: ReadonlySet<Json | undefined> = new Set(['system', 'user', 'assistant', 'tool'])

export function checkMessages(body: JsonObject): void {
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (const [at, value] of messages.entries()) {
    const path = `messages[${at}]`
    const message = objectAt(value, path)
    if (!ROLES.has(message.role)) throw invalid(`${path}.role`, `must be one of ${[...ROLES].join(', ')}.`)
    checkContent(message, `${path}.content`)
    checkCalls(message, `${path}.tool_calls`)
    if (message.role === 'tool') textAt(message.tool_call_id, `${path}.tool_call_id`)
    if (message.role === 'assistant') optionalText(message, 'tool_plan', `${path}.tool_plan`)
  }
}

function checkContent({ role, content }: JsonObject, path: string): void {
  if (typeof content === 'string') return
  if (role === 'assistant' && (content === undefined || content === null)) return
  if (!Array.isArray(content)) throw invalid(path, 'must be a string or a list of parts.')
  for (const [at, value] of content.entries()) {
    const part = objectAt(value, `${path}[${at}]`)
    CHECKS[textAt(part.type, `${path}[${at}].type`)]?.(part, `${path}[${at}]`)
  }
}

/** Parts that other providers get a translation of. */
const CHECKS: Readonly<Record<string, (part: JsonObject, path: string) => void>> = {
  text: (part, path) => textAt(part.text, `${path}.text`),
  thinking: (part, path) => textAt(part.thinking, `${path}.thinking`),
  image_url: (part, path) =>
    textAt(objectAt(part.image_url, `${path}.image_url`).url, `${path}.image_url.url`),
  document: (part, path) => objectAt(part.document, `${path}.document`),
}

function checkCalls({ tool_calls: calls }: JsonObject, path: string): void {
  if (calls === undefined || calls === null) return
  for (const [at, value] of listAt(calls, path).entries()) {
    const call = objectAt(value, `${path}[${at}]`)
    textAt(call.id, `${path}[${at}].id`)
    const fn = objectAt(call.function, `${path}[${at}].function`)
    textAt(fn.name, `${path}[${at}].function.name`)
    optionalText(fn, 'arguments', `${path}[${at}].function.arguments`)
  }
}
