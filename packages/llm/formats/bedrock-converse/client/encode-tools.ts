import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { toJsonInstruction } from '../../shared/adapted/json-instruction.ts'
import { refusesForcedCalls } from '../../shared/claude/claude-limits.ts'
import { encodeSchema, isEncodable } from '../../shared/claude/claude-schema.ts'
import { toInputSchema } from '../../shared/tools/input-schema.ts'
import { toCachePoint } from './encode-content.ts'
import { JSON_TOOL } from './json-tool.ts'
import {
  canForceTool,
  canRequireTools,
  takesCachePoints,
  takesSchemas,
  toModelFamily,
} from './model-family.ts'

const BY_TOOL = `Give the answer by calling the tool ${JSON_TOOL}, and in no other way.`

/** The fields of a body for tools and the response format. */
export interface EncodedTools {
  readonly toolConfig?: JsonObject
  readonly outputConfig?: JsonObject
  /** A sentence that asks for the response format, where no call can be forced. */
  readonly instruction?: string
}

/**
 * Encodes tools, choice and response format: a schema goes to `outputConfig`, to a tool of the gateway or to an instruction.
 * `canForce`: the model may be forced to call that tool; otherwise it is told to.
 */
export function encodeTools(request: ChatRequest, model: string, canForce: boolean): EncodedTools {
  // Converse has no choice `none`, so the model gets no tools in its place.
  const tools = request.toolChoice === 'none' ? [] : (request.tools ?? [])
  const schema = findSchema(request)
  if (schema === undefined) return toConfig(tools, model, encodeChoice(request.toolChoice))
  const isClaude = toModelFamily(model) === 'claude'
  if (schema.name !== undefined && takesSchemas(model) && (!isClaude || isEncodable(schema.json))) {
    const { name, description, json } = schema
    const jsonSchema = {
      name,
      schema: JSON.stringify(isClaude ? encodeSchema(json) : json),
      ...(description === undefined ? {} : { description }),
    }
    const outputConfig = { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
    return { ...toConfig(tools, model, encodeChoice(request.toolChoice)), outputConfig }
  }
  if (canForceTool(model)) {
    const own: FunctionTool = {
      type: 'function',
      function: {
        name: JSON_TOOL,
        description: schema.description ?? 'Gives the answer as JSON.',
        parameters: schema.json,
      },
    }
    const all = [...tools, own]
    if (!canForce) return { ...toConfig(all, model, encodeChoice(request.toolChoice)), instruction: BY_TOOL }
    // Beside tools of the caller, the model chooses which to call, but must call one.
    const choice =
      tools.length === 0 ? { tool: { name: JSON_TOOL } } : (encodeForced(request.toolChoice) ?? { any: {} })
    return toConfig(all, model, choice)
  }
  const instruction = toJsonInstruction(schema.name === undefined ? undefined : schema.json)
  return { ...toConfig(tools, model, encodeChoice(request.toolChoice)), instruction }
}

/** `name` undefined: any JSON object. */
function findSchema(
  request: ChatRequest,
): { name?: string; description?: string; json: JsonObject } | undefined {
  const format = request.responseFormat
  if (format?.type === 'json_object') return { json: { type: 'object', additionalProperties: true } }
  if (format?.type !== 'json_schema') return undefined
  const { name, description, schema } = format.json_schema
  return { name, ...(description === undefined ? {} : { description }), json: schema ?? { type: 'object' } }
}

function toConfig(
  tools: readonly FunctionTool[],
  model: string,
  toolChoice: JsonObject | undefined,
): EncodedTools {
  if (tools.length === 0) return {}
  const specs = tools.flatMap(tool => {
    const cache = takesCachePoints(model)
      ? toCachePoint((tool as unknown as JsonObject).cache_control)
      : undefined
    return cache === undefined ? [encodeTool(tool, model)] : [encodeTool(tool, model), cache]
  })
  return { toolConfig: { tools: specs, ...(toolChoice === undefined ? {} : { toolChoice }) } }
}

function encodeTool({ function: fn }: FunctionTool, model: string): JsonObject {
  const takesStrict = toModelFamily(model) === 'claude' && takesSchemas(model)
  return {
    toolSpec: {
      name: fn.name,
      ...(fn.description ? { description: fn.description } : {}),
      inputSchema: { json: toInputSchema(fn.parameters) },
      ...(fn.strict === true && takesStrict ? { strict: true } : {}),
    },
  }
}

function encodeChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  return choice === 'auto' ? { auto: {} } : encodeForced(choice)
}

function encodeForced(choice: ToolChoice | undefined): JsonObject | undefined {
  if (choice === 'required') return { any: {} }
  return typeof choice === 'object' ? { tool: { name: choice.function.name } } : undefined
}

/** True if the model must call a tool. Some models cannot be forced to, and Claude up to 4.7 does not think before a forced call. */
export function isForced({ toolChoice }: ChatRequest): boolean {
  return toolChoice === 'required' || typeof toolChoice === 'object'
}

/** True if the model takes the choice of a tool that the request makes. */
export function canHonourChoice(request: ChatRequest, model: string): boolean {
  if (!isForced(request)) return true
  if (refusesForcedCalls(model)) return false
  return typeof request.toolChoice === 'object' ? canForceTool(model) : canRequireTools(model)
}
