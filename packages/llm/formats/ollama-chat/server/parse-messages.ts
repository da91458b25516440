import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toJsonText, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { makeToolCallId } from '../../shared/decode-message.ts'
import { plainToolCallId } from '../../shared/reasoning-carrier.ts'

/** Calls that have no result yet, in their order. */
type Pending = { readonly id: string; readonly name: string }[]

/** The `messages` of a caller of this format as canonical messages; they are checked before. */
export function decodeMessages(messages: Json | undefined): Message[] {
  const pending: Pending = []
  return toObjects(messages).map((message, turn): Message => {
    const content = decodeContent(message)
    switch (message.role) {
      case 'assistant':
        return decodeAssistant(message, content, turn, pending)
      case 'tool':
        return { role: 'tool', tool_call_id: takePending(message, pending), content }
      default:
        return { role: message.role === 'system' ? 'system' : 'user', content }
    }
  })
}

function decodeContent({ content, images }: JsonObject): string | ContentPart[] {
  const text = typeof content === 'string' ? content : ''
  const shown = toArray(images).flatMap((image): ContentPart[] => {
    const url = toImageUrl(image)
    return url === undefined ? [] : [{ type: 'image_url', image_url: { url } }]
  })
  if (shown.length === 0) return text
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...shown]
}

/** By the first bytes of what is in base64: the format does not say what an image is. */
const IMAGE_STARTS: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** undefined: it is none of the four kinds that providers take. */
export function toImageUrl(image: Json): string | undefined {
  if (typeof image !== 'string') return undefined
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(image.slice(0, 30))) return image
  const type = IMAGE_STARTS.find(([start]) => image.startsWith(start))?.[1]
  return type === undefined ? undefined : `data:${type};base64,${image}`
}

/** Newer clients name the call that a result answers; older ones its tool, or nothing: then it is the next in order. */
function takePending(message: JsonObject, pending: Pending): string {
  const id = toText(message.tool_call_id)
  const name = toText(message.tool_name) ?? toText(message.name)
  const byId =
    id === undefined ? -1 : pending.findIndex(call => plainToolCallId(call.id) === plainToolCallId(id))
  const byName = name === undefined ? -1 : pending.findIndex(call => call.name === name)
  const at = byId >= 0 ? byId : byName >= 0 ? byName : 0
  const [call] = pending.splice(at, 1)
  return call?.id ?? id ?? name ?? ''
}

function decodeAssistant(
  message: JsonObject,
  content: string | ContentPart[],
  turn: number,
  pending: Pending,
): Message {
  const calls = toObjects(message.tool_calls).map((call, at) => decodeCall(call, turn, at))
  for (const { id, function: fn } of calls) pending.push({ id, name: fn.name })
  const thinking = toText(message.thinking)
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(thinking === undefined ? {} : { reasoning: thinking }),
  }
}

function decodeCall({ id, function: given }: JsonObject, turn: number, at: number): ToolCall {
  const fn = toObject(given)
  const name = toText(fn?.name) ?? ''
  return {
    id: toText(id) ?? makeToolCallId('', turn, at, name),
    type: 'function',
    function: { name, arguments: toJsonText(toObject(fn?.arguments) ?? {}) },
  }
}
