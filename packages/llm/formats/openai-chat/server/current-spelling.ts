import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import { listAt, objectAt, textAt } from '../../shared/reading/read-fields.ts'

/**
 * Older and other spellings of OpenAI's fields, which clients still send: `functions` and `function_call`, OpenRouter's
 * `reasoning: { effort }`, and Mistral's `tool_choice: "any"`, `image_url` as a text, and tools without `type`.
 */
export interface CurrentBody {
  /** The body in the current spelling: the received one, if it has no other. */
  readonly body: JsonObject
  /** The fields that differ from the received body; undefined as a value: left out. Absent: none differ. */
  readonly changes?: ReadonlyMap<string, Json | undefined>
  /** The caller sent `functions`, and reads `function_call` in the answer. */
  readonly callsFunctions: boolean
}

type Changes = Map<string, Json | undefined>

/** Throws RequestError on a function of the wrong form. */
export function toCurrentSpelling(body: JsonObject): CurrentBody {
  const changes: Changes = new Map()
  const callsFunctions = respellFunctions(body, changes)
  respellTools(body, changes)
  if (body.tool_choice === 'any') changes.set('tool_choice', 'required')
  respellReasoning(body, changes)
  respellMessages(body, changes)
  if (changes.size === 0) return { body, callsFunctions }
  const current = new Map(Object.entries(body))
  for (const [name, value] of changes) {
    if (value === undefined) current.delete(name)
    else current.set(name, value)
  }
  return { body: Object.fromEntries(current), changes, callsFunctions }
}

function respellFunctions(body: JsonObject, changes: Changes): boolean {
  const { functions, function_call: choice } = body
  const hasOld = functions !== undefined && functions !== null
  if (Object.hasOwn(body, 'functions')) changes.set('functions', undefined)
  if (Object.hasOwn(body, 'function_call')) changes.set('function_call', undefined)
  if (!hasOld || (body.tools !== undefined && body.tools !== null)) return false
  const tools = listAt(functions, 'functions').map((value, at): Json => {
    const fn = objectAt(value, `functions[${at}]`)
    textAt(fn.name, `functions[${at}].name`)
    return { type: 'function', function: fn }
  })
  // Many providers refuse an empty list, and a choice among none.
  if (tools.length === 0) return true
  changes.set('tools', tools)
  if (choice === 'auto' || choice === 'none') changes.set('tool_choice', choice)
  else if (choice !== undefined && choice !== null) {
    const name = textAt(objectAt(choice, 'function_call').name, 'function_call.name')
    changes.set('tool_choice', { type: 'function', function: { name } })
  }
  return true
}

function respellTools({ tools }: JsonObject, changes: Changes): void {
  if (!Array.isArray(tools) || !tools.some(isUntyped)) return
  changes.set(
    'tools',
    tools.map(tool => (isUntyped(tool) ? { type: 'function', ...toObject(tool) } : tool)),
  )
}

function isUntyped(tool: Json): boolean {
  const given = toObject(tool)
  return given !== undefined && given.type === undefined && toObject(given.function) !== undefined
}

/** An effort beside OpenAI's own field for it is left to that field. */
function respellReasoning({ reasoning, reasoning_effort: effort }: JsonObject, changes: Changes): void {
  const settings = toObject(reasoning)
  if (settings === undefined) return
  changes.set('reasoning', undefined)
  if (effort !== undefined && effort !== null) return
  const named = toText(settings.effort) ?? (settings.enabled === false ? 'none' : undefined)
  const isOn = settings.enabled === true || typeof settings.max_tokens === 'number'
  if (named !== undefined || isOn) changes.set('reasoning_effort', named ?? 'medium')
}

function respellMessages({ messages }: JsonObject, changes: Changes): void {
  if (!Array.isArray(messages) || !messages.some(isOld)) return
  let lastId: string | undefined
  changes.set(
    'messages',
    messages.map((value, at): Json => {
      const message = toObject(value)
      if (message === undefined) return value
      const call = toObject(message.function_call)
      if (call !== undefined && !Array.isArray(message.tool_calls)) {
        lastId = `call_function_${at}`
        const { function_call: _call, ...rest } = message
        // Not by another copy: a message may have 60,000 fields, each copy of which takes 25 ms.
        rest.tool_calls = [{ id: lastId, type: 'function', function: call }]
        return rest
      }
      if (message.role === 'function') {
        const { name: _name, ...rest } = message
        rest.role = 'tool'
        rest.tool_call_id = lastId ?? `call_function_${at}`
        return rest
      }
      if (!Array.isArray(message.content) || !message.content.some(hasTextImage)) return value
      return { ...message, content: message.content.map(respellImage) }
    }),
  )
}

function isOld(value: Json): boolean {
  const message = toObject(value)
  if (message === undefined) return false
  if (message.role === 'function' || toObject(message.function_call) !== undefined) return true
  return Array.isArray(message.content) && message.content.some(hasTextImage)
}

function hasTextImage(value: Json): boolean {
  const part = toObject(value)
  return part?.type === 'image_url' && typeof part.image_url === 'string'
}

function respellImage(value: Json): Json {
  return hasTextImage(value) ? { ...toObject(value), image_url: { url: toObject(value)?.image_url } } : value
}
