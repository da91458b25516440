import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { toEffort } from '../../shared/claude-effort.ts'
import { toCacheControl } from './decode-blocks.ts'
import { decodeMessages } from './decode-messages.ts'

type Asked = Pick<
  ChatRequest,
  'messages' | 'tools' | 'toolChoice' | 'responseFormat' | 'stop' | 'reasoningEffort'
>

export interface DecodedRequest {
  /** What any provider can be asked. */
  readonly asked: Asked
  /** Paths of what only a provider of this format can honour. */
  readonly nativeOnly: readonly string[]
}

/** Fields with a canonical meaning, or that ask for nothing of the model; what may have but one value is checked before. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'outputConfig',
  'additionalModelRequestFields',
  'requestMetadata',
  'serviceTier',
  'performanceConfig',
])
const INFERENCE: ReadonlySet<string> = new Set(['maxTokens', 'temperature', 'topP', 'stopSequences'])
/** Fields of a model's own; what is in beta at one maker is nothing to another. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'thinking',
  'reasoning_config',
  'reasoningConfig',
  'reasoning_effort',
  'output_config',
  'anthropic_beta',
])

/** A Converse request for any provider. `body` is checked before. */
export function decodeRequest(body: JsonObject): DecodedRequest {
  const inference = toObject(body.inferenceConfig) ?? {}
  const extra = toObject(body.additionalModelRequestFields) ?? {}
  const nativeOnly = [
    ...findOthers(body, TRANSLATED, ''),
    ...findOthers(inference, INFERENCE, 'inferenceConfig.'),
    ...findOthers(extra, OWN_FIELDS, 'additionalModelRequestFields.'),
  ]
  const config = toObject(body.toolConfig)
  const tools = decodeTools(toObjects(config?.tools))
  const toolChoice = decodeChoice(toObject(config?.toolChoice))
  const responseFormat = decodeFormat(toObject(toObject(body.outputConfig)?.textFormat))
  const effort = decodeReasoning(extra)
  const stop = Array.isArray(inference.stopSequences) ? (inference.stopSequences as string[]) : []
  const asked: Asked = {
    messages: decodeMessages(body.system, body.messages, nativeOnly),
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || toolChoice === undefined ? {} : { toolChoice }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
  }
  return { asked, nativeOnly }
}

function findOthers(fields: JsonObject, known: ReadonlySet<string>, path: string): string[] {
  return Object.keys(fields)
    .filter(name => !known.has(name) && !isNothing(fields[name]))
    .map(name => path + name)
}

function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function decodeTools(tools: readonly JsonObject[]): FunctionTool[] {
  return tools.flatMap((tool, at) => {
    const spec = toObject(tool.toolSpec)
    if (spec === undefined) return []
    const description = toText(spec.description)
    const mark = tools[at + 1]?.cachePoint
    const fn: FunctionTool['function'] = {
      name: toText(spec.name) ?? '',
      ...(description === undefined ? {} : { description }),
      parameters: toObject(toObject(spec.inputSchema)?.json) ?? { type: 'object', properties: {} },
      ...(spec.strict === true ? { strict: true } : {}),
    }
    return {
      type: 'function' as const,
      function: fn,
      ...(mark === undefined ? {} : { cache_control: toCacheControl(mark) }),
    }
  })
}

function decodeChoice(choice: JsonObject | undefined): ToolChoice | undefined {
  const named = toObject(choice?.tool)
  if (named !== undefined) return { type: 'function', function: { name: toText(named.name) ?? '' } }
  if (choice?.any !== undefined) return 'required'
  return choice?.auto === undefined ? undefined : 'auto'
}

/** The schema is a text of its own. */
function decodeFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  const given = toObject(toObject(format?.structure)?.jsonSchema)
  if (format?.type !== 'json_schema' || given === undefined) return undefined
  const description = toText(given.description)
  return {
    type: 'json_schema',
    json_schema: {
      name: toText(given.name) ?? 'answer',
      schema: parseSchema(given.schema),
      ...(description === undefined ? {} : { description }),
    },
  }
}

function parseSchema(text: Json | undefined): JsonObject {
  try {
    return toObject(JSON.parse(String(text)) as Json) ?? {}
  } catch {
    return {}
  }
}

/** Each maker's models are asked to reason in words of their own. */
function decodeReasoning(extra: JsonObject): string | undefined {
  const effort = toText(extra.reasoning_effort)
  if (effort !== undefined) return effort
  const config = toObject(extra.reasoningConfig)
  if (config?.type === 'enabled') return toText(config.maxReasoningEffort) ?? 'medium'
  const thinking = toObject(extra.thinking) ?? toObject(extra.reasoning_config)
  return toEffort(thinking, toObject(extra.output_config))
}
