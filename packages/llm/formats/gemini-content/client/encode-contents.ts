import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { mayBeContainer } from '../../../json/may-be-container.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import { matchesAny } from '../../shared/reading/model-pattern.ts'
import { parseInnerJson } from '../../shared/reading/parse-inner-json.ts'
import { plainToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { markInstruction } from '../../shared/requests/mark-instruction.ts'
import { listFunctionCalls } from '../../shared/tools/function-calls.ts'
import { toArgumentsOrEmpty } from '../../shared/tools/tool-arguments.ts'
import { toSignatures } from '../wire/signatures.ts'
import { encodeParts } from './encode-parts.ts'

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
}

/**
 * Messages as `systemInstruction` and `contents`. Consecutive messages of one role become one content. Instructions at the beginning
 * go to `systemInstruction`; later ones stay in their place as a marked text of the user, since the first bytes of a prompt decide
 * whether it is cached.
 */
export function encodeContents(messages: readonly Message[], target: Target): JsonObject {
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
        if (contents.length === 0) system.push(...encodeParts(message.content))
        else add('user', encodeParts(message.content).map(markPart))
        break
      case 'assistant':
        for (const { id, function: fn } of listFunctionCalls(message)) names.set(plainToolCallId(id), fn.name)
        add('model', encodeAssistant(message, target))
        break
      case 'tool':
        add('user', encodeResult(message, names, target))
        break
      default:
        add('user', encodeParts(message.content))
    }
  }
  return withSystem(system, contents, target.model)
}

function markPart(part: JsonObject): JsonObject {
  return typeof part.text === 'string' ? { ...part, text: markInstruction(part.text) } : part
}

/** The body needs at least one content, and open models take instructions within the contents only. */
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

function encodeAssistant(message: Message, target: Target): JsonObject[] {
  const { ofText, ofCalls } = toSignatures(message, target.model)
  const parts = encodeParts(message.content)
  const last = parts.at(-1)
  if (last !== undefined && ofText !== undefined) last.thoughtSignature = ofText
  for (const call of listFunctionCalls(message)) {
    const signature = ofCalls.get(plainToolCallId(call.id))
    parts.push({
      functionCall: encodeCall(call, target),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    })
  }
  return parts
}

function encodeCall({ id, function: fn }: ToolCall, target: Target): JsonObject {
  return { ...withId(id, target), name: fn.name, args: toArgumentsOrEmpty(fn.arguments) }
}

/** The provider's id of a call; nothing if the provider sent none, so that the gateway made the id, or if it accepts none. */
export function withId(packed: string, { provider, model }: Target): JsonObject {
  if (provider.refusesCallIds !== undefined && matchesAny(model, provider.refusesCallIds)) return {}
  const id = plainToolCallId(packed)
  return /^call_[0-9a-f]{24}$/.test(id) || id === '' ? {} : { id }
}

/** The result of a call, with the name of its function. Images of the result are parts after it. */
function encodeResult(message: Message, names: ReadonlyMap<string, string>, target: Target): JsonObject[] {
  const packed = message.tool_call_id ?? ''
  const name = names.get(plainToolCallId(packed)) ?? message.name ?? plainToolCallId(packed)
  const parts = encodeParts(message.content)
  const text = parts.map(part => (typeof part.text === 'string' ? part.text : '')).join('')
  const media = parts.filter(part => part.text === undefined)
  return [
    {
      functionResponse: {
        ...withId(packed, target),
        name,
        response: toResponse(text, message.is_error === true),
      },
    },
    ...media,
  ]
}

/** A result as an object: the API takes nothing else. A failure has a name of its own in it. */
function toResponse(text: string, isError: boolean): JsonObject {
  const parsed = mayBeContainer(text) ? parseJson(text) : undefined
  if (isError) return { error: parsed ?? text }
  return toObject(parsed) ?? { result: parsed ?? text }
}

function parseJson(text: string): Json | undefined {
  try {
    return parseInnerJson(text)
  } catch {
    return undefined
  }
}
