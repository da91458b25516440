import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { FIELDS, MIN_OUTPUT_TOKENS } from '../wire/fields.ts'
import { encodeInput } from './encode-input.ts'

export function encodeOutputCap(tokens: number): number {
  return Math.max(MIN_OUTPUT_TOKENS, tokens)
}

/** The canonical request as a body of this format, without the model and what a model's rules add. */
export function encodeBody(
  request: ChatRequest,
  { id: providerId, openai }: Provider,
  dropped: readonly string[],
): JsonObject {
  const body: JsonObject = {
    input: encodeInput(request.messages, {
      developerRole: openai?.developerRole === true,
      reasoningOf: request.leavesReasoningOut === true ? undefined : providerId,
    }),
  }
  FIELDS.write(request, body)
  if (request.maxOutputTokens !== undefined) {
    body.max_output_tokens = encodeOutputCap(request.maxOutputTokens)
  }
  if (request.tools !== undefined) body.tools = request.tools.map(encodeTool)
  const choice = encodeToolChoice(request.toolChoice)
  if (choice !== undefined) body.tool_choice = choice
  const format = encodeFormat(request.responseFormat)
  if (format !== undefined) body.text = { ...toObject(body.text), format }
  if (request.stream) body.stream = true
  for (const name of dropped) FIELDS.remove(body, name)
  // The provider keeps nothing: the reasoning goes to the caller, encrypted, and comes back with the next request.
  body.store ??= false
  return body
}

/** `strict` is true by default here and false in chat completions, so it is always written. */
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

function encodeFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format?.type === 'json_schema') return { type: 'json_schema', ...(format.json_schema as JsonObject) }
  return format === undefined ? undefined : { type: format.type }
}
