import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { plainToolCallId } from '../../shared/reasoning-carrier.ts'
import { findSignatures } from '../wire/signatures.ts'
import { encodeParts } from './encode-parts.ts'

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
}

/** `systemInstruction` and `contents`: messages of one role that follow each other become one content. */
export function encodeContents(messages: readonly Message[], model: string): JsonObject {
  const system: JsonObject[] = []
  const contents: Content[] = []
  const names = new Map<string, string>()
  const add = (role: Content['role'], parts: JsonObject[]): void => {
    if (parts.length === 0) return
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts: [...parts] })
  }
  for (const message of messages) {
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...encodeParts(message.content))
        break
      case 'assistant':
        for (const { id, function: fn } of message.tool_calls ?? []) names.set(plainToolCallId(id), fn.name)
        add('model', encodeAssistant(message, model))
        break
      case 'tool':
        add('user', encodeResult(message, names))
        break
      default:
        add('user', encodeParts(message.content))
    }
  }
  return withSystem(system, contents, model)
}

/** A conversation needs a turn, and open models take no instruction apart from it. */
function withSystem(system: JsonObject[], contents: Content[], model: string): JsonObject {
  if (contents.length === 0) {
    return { contents: [{ role: 'user', parts: system.length === 0 ? [{ text: '' }] : system }] }
  }
  if (system.length === 0) return { contents: contents as unknown as Json }
  if (!model.startsWith('gemma')) {
    return { systemInstruction: { parts: system }, contents: contents as unknown as Json }
  }
  const [first] = contents
  if (first?.role === 'user') first.parts.unshift(...system)
  else contents.unshift({ role: 'user', parts: system })
  return { contents: contents as unknown as Json }
}

function encodeAssistant(message: Message, model: string): JsonObject[] {
  const { ofText, ofCalls } = findSignatures(message, model)
  const parts = encodeParts(message.content)
  const last = parts.at(-1)
  if (last !== undefined && ofText !== undefined) last.thoughtSignature = ofText
  for (const call of message.tool_calls ?? []) {
    const signature = ofCalls.get(plainToolCallId(call.id))
    parts.push({
      functionCall: encodeCall(call),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    })
  }
  return parts
}

function encodeCall({ id, function: fn }: ToolCall): JsonObject {
  return { ...withId(id), name: fn.name, args: parseArguments(fn.arguments) }
}

/** Of a call that came without one, the id is ours, and means nothing there. */
export function withId(packed: string): JsonObject {
  const id = plainToolCallId(packed)
  return /^call_[0-9a-f]{24}$/.test(id) || id === '' ? {} : { id }
}

function parseArguments(text: string): JsonObject {
  return toObject(parseJson(text)) ?? {}
}

/** The result of a call, by the name of the function that was called; images in it follow it. */
function encodeResult(message: Message, names: ReadonlyMap<string, string>): JsonObject[] {
  const packed = message.tool_call_id ?? ''
  const name = names.get(plainToolCallId(packed)) ?? message.name ?? plainToolCallId(packed)
  const parts = encodeParts(message.content)
  const text = parts.map(part => (typeof part.text === 'string' ? part.text : '')).join('')
  const media = parts.filter(part => part.text === undefined)
  return [{ functionResponse: { ...withId(packed), name, response: toResponse(text) } }, ...media]
}

/** The API takes an object only. */
function toResponse(text: string): JsonObject {
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  return toObject(parsed) ?? { result: parsed ?? text }
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
