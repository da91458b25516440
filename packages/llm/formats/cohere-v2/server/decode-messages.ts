import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'

/** The messages of a caller of this format as canonical ones; parts that are none there are named in `nativeOnly`. */
export function decodeMessages(messages: Json | undefined, nativeOnly: string[]): Message[] {
  return toObjects(messages).map((message, at) => {
    const content = decodeContent(message.content, `messages[${at}].content`, nativeOnly)
    switch (message.role) {
      case 'assistant':
        return decodeAssistant(message, content)
      case 'tool':
        return { role: 'tool', tool_call_id: toText(message.tool_call_id) ?? '', content }
      case 'system':
        return { role: 'system', content }
      default:
        return { role: 'user', content }
    }
  })
}

/** The plan of an assistant's calls and its thinking are reasoning; what it cited is in no other format. */
function decodeAssistant(message: JsonObject, content: string | ContentPart[]): Message {
  const calls = toObjects(message.tool_calls).map(decodeCall)
  const thoughts = toObjects(message.content).map(({ thinking }) => toText(thinking) ?? '')
  const reasoning = [...thoughts, toText(message.tool_plan) ?? ''].join('')
  return {
    role: 'assistant',
    content: content.length === 0 && calls.length > 0 ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reasoning === '' ? {} : { reasoning }),
  }
}

function decodeCall(call: JsonObject): ToolCall {
  const fn = toObject(call.function)
  const given = toText(fn?.arguments) ?? ''
  return {
    id: toText(call.id) ?? '',
    type: 'function',
    // A tool without parameters is called with the text `null`.
    function: { name: toText(fn?.name) ?? '', arguments: given === '' || given === 'null' ? '{}' : given },
  }
}

function decodeContent(
  content: Json | undefined,
  path: string,
  nativeOnly: string[],
): string | ContentPart[] {
  if (typeof content === 'string') return content
  const parts = toObjects(content).flatMap((part, at) => {
    const decoded = decodePart(part)
    if (decoded === undefined) nativeOnly.push(`${path}[${at}]`)
    return decoded ?? []
  })
  // What only has one text is that text.
  const [first] = parts
  return parts.length === 0 ? '' : parts.length === 1 && first?.type === 'text' ? String(first.text) : parts
}

/** undefined: nobody else knows such a part. */
function decodePart(part: JsonObject): ContentPart[] | undefined {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: toText(part.text) ?? '' }]
    case 'image_url':
      return [{ type: 'image_url', image_url: part.image_url }]
    case 'document':
      return [{ type: 'text', text: decodeDocument(toObject(part.document)) }]
    case 'thinking':
      return []
    default:
      return undefined
  }
}

/** A document is text, or fields with texts, which every model reads as JSON. */
function decodeDocument(document: JsonObject | undefined): string {
  const data = document?.data
  return typeof data === 'string' ? data : toJsonText(data ?? {})
}
