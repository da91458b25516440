import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { encodeSchema } from '../../shared/claude-schema.ts'
import { toCachePoint } from './encode-content.ts'
import { JSON_TOOL } from './json-tool.ts'
import { canForceTool, canRequireTools, findFamily, keepsSchemas, takesCachePoints } from './model-family.ts'

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

/** The fields of the body that tools and the answer's format ask for. */
export interface EncodedTools {
  readonly toolConfig?: JsonObject
  readonly outputConfig?: JsonObject
  /** What a model that can do neither is told in words. */
  readonly instruction?: string
}

/** `toolConfig` from tools and choice, and the answer's format: by the model itself, by a tool of ours, or by words. */
export function encodeTools(request: ChatRequest, model: string): EncodedTools {
  // There is no choice `none`: who may call nothing is not told of any tool.
  const tools = request.toolChoice === 'none' ? [] : (request.tools ?? [])
  const schema = findSchema(request)
  if (schema === undefined) return toConfig(tools, model, encodeChoice(request.toolChoice))
  if (schema.name !== undefined && keepsSchemas(model)) {
    const { name, description, json } = schema
    const jsonSchema = {
      name,
      schema: JSON.stringify(findFamily(model) === 'claude' ? encodeSchema(json) : json),
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
    // Among tools of the caller's own the model chooses, but it always calls one.
    const choice =
      tools.length === 0 ? { tool: { name: JSON_TOOL } } : (encodeForced(request.toolChoice) ?? { any: {} })
    return toConfig([...tools, own], model, choice)
  }
  const instruction =
    schema.name === undefined
      ? 'Answer with one JSON object only, without any other text.'
      : `Answer with one JSON object only, without any other text, by this JSON Schema: ${JSON.stringify(schema.json)}`
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
  const keepsStrict = findFamily(model) === 'claude' && keepsSchemas(model)
  return {
    toolSpec: {
      name: fn.name,
      ...(fn.description ? { description: fn.description } : {}),
      inputSchema: { json: fn.parameters ?? NO_PARAMETERS },
      ...(fn.strict === true && keepsStrict ? { strict: true } : {}),
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

/** Must the model call a tool? Some models cannot be made to, and Claude then does not think first. */
export function isForced({ toolChoice }: ChatRequest): boolean {
  return toolChoice === 'required' || typeof toolChoice === 'object'
}

export function canHonourChoice({ toolChoice }: ChatRequest, model: string): boolean {
  if (typeof toolChoice === 'object') return canForceTool(model)
  return toolChoice !== 'required' || canRequireTools(model)
}
