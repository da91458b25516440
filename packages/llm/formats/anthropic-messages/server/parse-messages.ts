import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { Message } from '../../../request/message.ts'
import type { MessageNotes } from '../../shared/reading/message-notes.ts'
import { invalid, listAt, objectAt } from '../../shared/reading/read-fields.ts'
import { type Content, joinTexts, parseContent } from './parse-content.ts'

/** The `system` and `messages` of a caller as canonical messages. Throws RequestError; see parseContent. */
export function parseMessages(body: JsonObject, notes: MessageNotes): Message[] {
  const parsed: Message[] = []
  const { parts } = parseContent(body.system, 'system', notes, true)
  if (parts.length > 0) parsed.push({ role: 'system', content: joinTexts(parts, '\n\n') })
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (let at = 0; at < messages.length; at++) parseMessage(messages[at], `messages[${at}]`, parsed, notes)
  return parsed
}

function parseMessage(value: Json | undefined, path: string, parsed: Message[], notes: MessageNotes): void {
  const message = objectAt(value, path)
  const { role } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(`${path}.role`, 'must be user, assistant or system.')
  }
  const content = parseContent(message.content, `${path}.content`, notes)
  if (role === 'assistant') parsed.push(toAssistant(content))
  else if (role === 'system') parsed.push({ role, content: joinTexts(content.parts, '\n\n') })
  else addUser(content, parsed)
}

/** Results of calls are messages of their own, before the rest of the user's message. */
function addUser({ parts, results }: Content, parsed: Message[]): void {
  for (const result of results) parsed.push(result)
  if (parts.length > 0 || results.length === 0) {
    parsed.push({ role: 'user', content: joinTexts(parts, '\n') })
  }
}

function toAssistant({ parts, calls, thinking, details, isInterleaved }: Content): Message {
  const staysApart = isInterleaved && parts.length > 1
  const message: Message = {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : staysApart ? parts : joinTexts(parts, ''),
  }
  if (calls.length > 0) message.tool_calls = calls
  if (thinking !== '') message.reasoning = thinking
  if (details.length > 0) message.reasoning_details = details
  return message
}
