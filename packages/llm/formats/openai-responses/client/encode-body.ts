import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import type { OpenAiDeviations } from '../../../provider/openai-deviations.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { encodeInput } from './encode-input.ts'

/** What a chat completion's body calls as this format does: passed on where the caller wrote one. */
export const SAME_NAMES = [
  'metadata',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
] as const

type BodyName =
  | (typeof SAME_NAMES)[number]
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'temperature'
  | 'top_p'
  | 'user'

/** The canonical request under this format's names, without model, cap and what the gateway adds. */
export function encodeBody(
  request: ChatRequest,
  deviations: OpenAiDeviations,
  dropped: readonly string[],
): JsonObject {
  const body: JsonObject = { input: encodeInput(request.messages, deviations.developerRole === true) }
  const set = (name: BodyName, value: unknown): void => {
    if (value !== undefined && value !== null && !dropped.includes(name)) body[name] = value as Json
  }
  set('tools', request.tools?.map(encodeTool))
  set('tool_choice', encodeToolChoice(request.toolChoice))
  set('parallel_tool_calls', request.parallelToolCalls)
  set('temperature', request.temperature)
  set('top_p', request.topP)
  set('user', request.user)
  if (request.reasoningEffort !== undefined && !dropped.includes('reasoning_effort')) {
    body.reasoning = { effort: request.reasoningEffort }
  }
  const { extra } = request
  if (extra !== undefined) for (const name of SAME_NAMES) set(name, extra.get(name))
  const text = encodeText(request.responseFormat, extra?.get('verbosity'))
  if (text !== undefined) body.text = text
  return body
}

/** Strictness is the default here and not in chat completions, so it is always said. */
function encodeTool({ function: fn }: FunctionTool): JsonObject {
  return {
    type: 'function',
    name: fn.name,
    ...(fn.description === undefined ? {} : { description: fn.description }),
    parameters: fn.parameters ?? { type: 'object', properties: {} },
    strict: fn.strict ?? false,
  }
}

function encodeToolChoice(choice: ToolChoice | undefined): Json | undefined {
  if (choice === undefined || typeof choice === 'string') return choice
  const wire = choice as unknown as JsonObject
  const allowed = toObject(wire.allowed_tools)
  if (wire.type === 'allowed_tools' && allowed !== undefined) {
    return { type: 'allowed_tools', mode: allowed.mode, tools: toObjects(allowed.tools).map(flatten) }
  }
  return flatten(wire)
}

function flatten({ type, function: fn }: JsonObject): JsonObject {
  return { type, name: toObject(fn)?.name }
}

function encodeText(format: ResponseFormat | undefined, verbosity: Json | undefined): JsonObject | undefined {
  const text: JsonObject = {}
  if (format?.type === 'json_schema')
    text.format = { type: 'json_schema', ...(format.json_schema as JsonObject) }
  else if (format !== undefined) text.format = { type: format.type }
  if (verbosity !== undefined && verbosity !== null) text.verbosity = verbosity
  return Object.keys(text).length === 0 ? undefined : text
}
