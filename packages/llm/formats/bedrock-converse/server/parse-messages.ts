import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { Message } from '../../../request/message.ts'
import type { MessageNotes } from '../../shared/reading/message-notes.ts'
import { invalid, listAt, objectAt } from '../../shared/reading/read-fields.ts'
import { type Content, isSet, parseBlocks, toContent } from './parse-blocks.ts'

/** The `system` and `messages` of a caller as canonical messages. Throws RequestError; see parseBlocks. */
export function parseMessages(body: JsonObject, notes: MessageNotes): Message[] {
  const parsed: Message[] = []
  if (isSet(body.system)) {
    const { parts } = parseBlocks(body.system, 'system', notes)
    if (parts.length > 0) parsed.push({ role: 'system', content: toContent(parts) })
  }
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (let at = 0; at < messages.length; at++) parseMessage(messages[at], `messages[${at}]`, parsed, notes)
  return parsed
}

function parseMessage(value: Json | undefined, path: string, parsed: Message[], notes: MessageNotes): void {
  const { role, content } = objectAt(value, path)
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(`${path}.role`, 'must be user, assistant or system.')
  }
  const blocks = parseBlocks(content, `${path}.content`, notes)
  if (role === 'assistant') {
    parsed.push(toAssistant(blocks))
    return
  }
  const { parts, results } = blocks
  // Results of calls are messages of their own, before the rest of the user's message.
  for (const result of results) parsed.push(result)
  if (parts.length > 0 || results.length === 0) parsed.push({ role, content: toContent(parts) })
}

function toAssistant({ parts, calls, reasoning, details }: Content): Message {
  const message: Message = {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : toContent(parts),
  }
  if (calls.length > 0) message.tool_calls = calls
  if (reasoning !== '') message.reasoning = reasoning
  if (details.length > 0) message.reasoning_details = details
  return message
}
