import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { makeToolCallId } from '../../shared/answers/decode-message.ts'
import { toArgumentsText } from '../../shared/reading/arguments-text.ts'
import {
  invalid,
  listAt,
  objectAt,
  optionalObject,
  optionalText,
  textAt,
} from '../../shared/reading/read-fields.ts'
import { assertCallIdLength, toolNameAt } from '../../shared/tools/call-fields.ts'
import { PendingCalls } from './pending-calls.ts'

const FIELDS: ReadonlySet<string> = new Set([
  ...['role', 'content', 'images', 'thinking', 'tool_calls', 'tool_name', 'tool_call_id', 'name'],
])

/**
 * The messages of a caller as canonical ones. Throws RequestError where a value that other providers get a translation of
 * has the wrong form. Adds the paths of unknown fields, which no provider gets, to `unknownFields`.
 */
export function parseMessages(value: Json | undefined, unknownFields: string[]): Message[] {
  const messages = listAt(value, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  const pending = new PendingCalls()
  return messages.map((value, turn) => {
    const path = `messages[${turn}]`
    const message = objectAt(value, path)
    for (const name in message) {
      if (!FIELDS.has(name) && message[name] !== null) unknownFields.push(`${path}.${name}`)
    }
    return parseMessage(message, path, turn, pending)
  })
}

function parseMessage(message: JsonObject, path: string, turn: number, pending: PendingCalls): Message {
  const { role } = message
  const content = parseContent(message, path)
  const thinking = optionalText(message, 'thinking', `${path}.thinking`)
  const calls = parseCalls(message, path, turn)
  const call = parseCallReference(message, path)
  switch (role) {
    case 'system':
    case 'user':
      return { role, content }
    case 'assistant': {
      for (const { id, function: fn } of calls) pending.add(id, fn.name)
      return {
        role,
        content: content === '' && calls.length > 0 ? null : content,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        ...(toText(thinking) === undefined ? {} : { reasoning: thinking }),
      }
    }
    case 'tool':
      return {
        role,
        tool_call_id: pending.take(call.id, call.name) ?? call.id ?? call.name ?? '',
        content,
      }
    default:
      throw invalid(`${path}.role`, 'must be system, user, assistant or tool.')
  }
}

interface CallReference {
  readonly id: string | undefined
  /** The name of the tool. */
  readonly name: string | undefined
}

/** The call that a message answers, if it is a result. */
function parseCallReference(message: JsonObject, path: string): CallReference {
  const id = optionalText(message, 'tool_call_id', `${path}.tool_call_id`)
  assertCallIdLength(id, `${path}.tool_call_id`)
  const tool = optionalText(message, 'tool_name', `${path}.tool_name`)
  const name = optionalText(message, 'name', `${path}.name`)
  return { id: toText(id), name: toText(tool) ?? toText(name) }
}

function parseContent(message: JsonObject, path: string): string | ContentPart[] {
  const text = optionalText(message, 'content', `${path}.content`) ?? ''
  const { images } = message
  if (images === undefined || images === null) return text
  const shown = listAt(images, `${path}.images`).map((image, at) =>
    parseImage(image, `${path}.images[${at}]`),
  )
  if (shown.length === 0) return text
  return text === '' ? shown : [{ type: 'text', text }, ...shown]
}

function parseImage(image: Json, path: string): ContentPart {
  const url = toImageUrl(textAt(image, path))
  if (url === undefined) throw invalid(path, 'must be a PNG, JPEG, GIF or WebP image in base64.')
  return { type: 'image_url', image_url: { url } }
}

/** The first bytes of an image in base64: the format has no field for its type. */
const IMAGE_STARTS: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** Returns the image as a `data:` URL; undefined: it is of none of the four kinds that providers accept. */
export function toImageUrl(image: Json): string | undefined {
  if (typeof image !== 'string') return undefined
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(image.slice(0, 30))) return image
  const type = IMAGE_STARTS.find(([start]) => image.startsWith(start))?.[1]
  return type === undefined ? undefined : `data:${type};base64,${image}`
}

function parseCalls({ tool_calls: calls }: JsonObject, path: string, turn: number): ToolCall[] {
  if (calls === undefined || calls === null) return []
  return listAt(calls, `${path}.tool_calls`).map((item, at) => {
    const place = `${path}.tool_calls[${at}]`
    const call = objectAt(item, place)
    const id = optionalText(call, 'id', `${place}.id`)
    assertCallIdLength(id, `${place}.id`)
    const fn = objectAt(call.function, `${place}.function`)
    const name = toolNameAt(fn.name, `${place}.function.name`)
    const given = optionalObject(fn, 'arguments', `${place}.function.arguments`)
    return {
      id: toText(id) ?? makeToolCallId('', turn, at, name),
      type: 'function',
      function: { name, arguments: toArgumentsText(given ?? {}) },
    }
  })
}
