import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText } from '../../../json/json-value.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { type MessageNotes, noteUnread } from '../../shared/reading/message-notes.ts'
import { invalid, listAt, objectAt, optionalText, textAt } from '../../shared/reading/read-fields.ts'
import { CARRIER_MARK } from '../../shared/reasoning/reasoning-carrier.ts'
import { toolCallIdAt, toolNameAt } from '../../shared/tools/call-fields.ts'

const ROLES: readonly Json[] = ['system', 'user', 'assistant', 'tool']

/**
 * The messages of a caller as canonical ones. Throws RequestError where a value that other providers get a translation
 * of has the wrong form. Adds to `notes` which parts no other format knows, and whether ids carry reasoning.
 */
export function parseMessages(value: Json | undefined, notes: MessageNotes): Message[] {
  const messages = listAt(value, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  return messages.map((message, at) =>
    parseMessage(objectAt(message, `messages[${at}]`), `messages[${at}]`, notes),
  )
}

function parseMessage(message: JsonObject, path: string, notes: MessageNotes): Message {
  const { role } = message
  if (!ROLES.includes(role ?? null)) throw invalid(`${path}.role`, `must be one of ${ROLES.join(', ')}.`)
  const { content, thoughts } = parseContent(message, `${path}.content`, notes)
  const calls = parseCalls(message.tool_calls, `${path}.tool_calls`, notes)
  if (role === 'assistant') return toAssistant(message, path, content, calls, thoughts)
  if (role === 'tool') {
    return { role, tool_call_id: parseId(message.tool_call_id, `${path}.tool_call_id`, notes), content }
  }
  return { role: role === 'system' ? 'system' : 'user', content }
}

/** The plan of an assistant's calls and its thinking are reasoning. What it cited has no place in another format. */
function toAssistant(
  message: JsonObject,
  path: string,
  content: string | ContentPart[],
  calls: readonly ToolCall[],
  thoughts: string,
): Message {
  const reasoning = thoughts + (optionalText(message, 'tool_plan', `${path}.tool_plan`) ?? '')
  return {
    role: 'assistant',
    content: content.length === 0 && calls.length > 0 ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: [...calls] }),
    ...(reasoning === '' ? {} : { reasoning }),
  }
}

function parseId(value: Json | undefined, path: string, notes: MessageNotes): string {
  const id = toolCallIdAt(value, path)
  notes.carriesReasoning ||= id.includes(CARRIER_MARK)
  return id
}

function parseCalls(value: Json | undefined, path: string, notes: MessageNotes): ToolCall[] {
  if (value === undefined || value === null) return []
  return listAt(value, path).map((item, at) => {
    const call = objectAt(item, `${path}[${at}]`)
    const fn = objectAt(call.function, `${path}[${at}].function`)
    const given = optionalText(fn, 'arguments', `${path}[${at}].function.arguments`) ?? ''
    return {
      id: parseId(call.id, `${path}[${at}].id`, notes),
      type: 'function',
      function: {
        name: toolNameAt(fn.name, `${path}[${at}].function.name`),
        // A tool without parameters is called with the text `null`.
        arguments: given === '' || given === 'null' ? '{}' : given,
      },
    }
  })
}

interface Content {
  readonly content: string | ContentPart[]
  /** What the assistant thought, of all its parts. */
  readonly thoughts: string
}

function parseContent({ role, content }: JsonObject, path: string, notes: MessageNotes): Content {
  if (typeof content === 'string') return { content, thoughts: '' }
  if (role === 'assistant' && (content === undefined || content === null))
    return { content: '', thoughts: '' }
  if (!Array.isArray(content)) throw invalid(path, 'must be a string or a list of parts.')
  const parts: ContentPart[] = []
  let thoughts = ''
  for (const [at, value] of content.entries()) {
    const part = objectAt(value, `${path}[${at}]`)
    if (textAt(part.type, `${path}[${at}].type`) === 'thinking') {
      thoughts += textAt(part.thinking, `${path}[${at}].thinking`)
      continue
    }
    const parsed = parsePart(part, `${path}[${at}]`)
    if (parsed === undefined) noteUnread(part, `${path}[${at}]`, notes)
    else parts.push(parsed)
  }
  const [first] = parts
  if (first === undefined) return { content: '', thoughts }
  // A single text is the content itself: many servers take lists of parts from users only.
  const isText = parts.length === 1 && first.type === 'text'
  return { content: isText ? String(first.text) : parts, thoughts }
}

/** undefined: no other format knows such a part. */
function parsePart(part: JsonObject, path: string): ContentPart | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: textAt(part.text, `${path}.text`) }
    case 'image_url': {
      const image = objectAt(part.image_url, `${path}.image_url`)
      textAt(image.url, `${path}.image_url.url`)
      return { type: 'image_url', image_url: image }
    }
    case 'document':
      return { type: 'text', text: toDocumentText(objectAt(part.document, `${path}.document`)) }
    default:
      return undefined
  }
}

/** A document is text, or fields with texts, which every model reads as JSON. */
function toDocumentText({ data }: JsonObject): string {
  return typeof data === 'string' ? data : toJsonText(data ?? {})
}
