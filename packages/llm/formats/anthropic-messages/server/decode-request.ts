import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { decodeMessages } from './decode-messages.ts'

type Asked = Pick<
  ChatRequest,
  'messages' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'responseFormat' | 'stop' | 'reasoningEffort'
>

/**
 * What a request of this format asks of any provider. Its own matters stay behind: breakpoints of the cache, edits of
 * the context, how thinking is shown, and tools that only its provider runs or has trained its models for. `body` is
 * checked before.
 */
export function decodeRequest(body: JsonObject): Asked {
  const choice = toObject(body.tool_choice)
  const tools = decodeTools(body.tools)
  const toolChoice = decodeToolChoice(choice)
  const responseFormat = decodeFormat(body)
  const effort = decodeEffort(toObject(body.thinking), toObject(body.output_config))
  const stop = Array.isArray(body.stop_sequences) ? (body.stop_sequences as string[]) : undefined
  const hasTools = tools.length > 0
  const isKnown =
    typeof toolChoice !== 'object' ||
    tools.some(({ function: { name } }) => name === toolChoice.function.name)
  const asked: { -readonly [K in keyof Asked]: Asked[K] } = {
    messages: decodeMessages(body.system, body.messages),
  }
  if (hasTools) asked.tools = tools
  if (hasTools && isKnown && toolChoice !== undefined) asked.toolChoice = toolChoice
  if (hasTools && choice?.disable_parallel_tool_use === true) asked.parallelToolCalls = false
  if (responseFormat !== undefined) asked.responseFormat = responseFormat
  if (stop !== undefined && stop.length > 0) asked.stop = stop
  if (effort !== undefined) asked.reasoningEffort = effort
  return asked
}

function decodeTools(tools: Json | undefined): FunctionTool[] {
  return toObjects(tools)
    .filter(({ type }) => type === undefined || type === null || type === 'custom')
    .map(({ name, description, input_schema: schema, strict, cache_control }) => ({
      type: 'function',
      function: {
        name: toText(name) ?? '',
        ...(typeof description === 'string' ? { description } : {}),
        parameters: toObject(schema) ?? { type: 'object', properties: {} },
        ...(strict === true ? { strict } : {}),
      },
      ...(toObject(cache_control) === undefined ? {} : { cache_control }),
    }))
}

function decodeToolChoice(choice: JsonObject | undefined): ToolChoice | undefined {
  switch (choice?.type) {
    case 'auto':
    case 'none':
      return choice.type
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: toText(choice.name) ?? '' } }
    default:
      return undefined
  }
}

/** `output_config.format`, or `output_format` of older clients. */
function decodeFormat(body: JsonObject): ResponseFormat | undefined {
  const format = toObject(toObject(body.output_config)?.format) ?? toObject(body.output_format)
  const schema = toObject(format?.schema)
  if (format?.type !== 'json_schema' || schema === undefined) return undefined
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

/** Budgets up to which an effort is low or medium, in tokens. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384

/** An effort that any provider knows; undefined: none is asked for. */
export function decodeEffort(
  thinking: JsonObject | undefined,
  outputConfig: JsonObject | undefined,
): string | undefined {
  if (thinking?.type === 'disabled') return undefined
  const effort = toText(outputConfig?.effort)
  // Others have no word for more than high.
  if (effort !== undefined) return effort === 'low' || effort === 'medium' ? effort : 'high'
  if (thinking?.type !== 'enabled') return undefined
  const budget = Number(thinking.budget_tokens ?? 0)
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}
