import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { decodeMessages } from './decode-messages.ts'

type Asked = Pick<
  ChatRequest,
  'messages' | 'tools' | 'toolChoice' | 'responseFormat' | 'stop' | 'reasoningEffort' | 'passedInput'
>

export interface DecodedRequest {
  /** What any provider can be asked. */
  readonly asked: Asked
  /** Paths of what only a provider of this format can honour. */
  readonly nativeOnly: readonly string[]
}

/** Fields with a canonical meaning, or whose loss changes no answer. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'tools',
  'tool_choice',
  'response_format',
  'max_tokens',
  'temperature',
  'p',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stop_sequences',
  'thinking',
  // How soon the request is served.
  'priority',
])

/** A request of version 2 of the chat, for any provider. `body` is checked before. */
export function decodeRequest(body: JsonObject): DecodedRequest {
  const nativeOnly = Object.keys(body).filter(name => !TRANSLATED.has(name) && !isUsual(name, body[name]))
  const tools = decodeTools(body.tools)
  const toolChoice = decodeToolChoice(body.tool_choice)
  const responseFormat = decodeFormat(toObject(body.response_format))
  const effort = decodeThinking(toObject(body.thinking))
  const stop = Array.isArray(body.stop_sequences) ? (body.stop_sequences as string[]) : []
  const documents = Array.isArray(body.documents) ? body.documents : []
  const asked: Asked = {
    messages: decodeMessages(body.messages, nativeOnly),
    ...(tools.length > 0 ? { tools } : {}),
    ...(tools.length > 0 && toolChoice !== undefined ? { toolChoice } : {}),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    ...(documents.length === 0 ? {} : { passedInput: documents }),
  }
  return { asked, nativeOnly }
}

/** What asks for nothing that is not done without it. */
const USUAL: Readonly<Record<string, (value: Json) => boolean>> = {
  k: value => value === 0,
  logprobs: value => value === false,
  strict_tools: value => value === false,
  documents: value => Array.isArray(value) && value.length === 0,
  // No other provider says anything of safety before a prompt, so `OFF` is what they do too.
  safety_mode: value => value === 'CONTEXTUAL' || value === 'OFF' || value === 'NONE',
  citation_options: value => {
    const mode = toObject(value)?.mode
    return mode === undefined || mode === null || mode === 'OFF' || mode === 'DISABLED'
  },
}

function isUsual(name: string, value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  return Object.hasOwn(USUAL, name) && USUAL[name]?.(value) === true
}

function decodeTools(tools: Json | undefined): FunctionTool[] {
  return toObjects(tools).map(tool => {
    const fn = toObject(tool.function)
    const description = toText(fn?.description)
    return {
      type: 'function',
      function: {
        name: toText(fn?.name) ?? '',
        ...(description === undefined ? {} : { description }),
        parameters: toObject(fn?.parameters) ?? { type: 'object', properties: {} },
      },
    }
  })
}

function decodeToolChoice(choice: Json | undefined): ToolChoice | undefined {
  if (choice === 'REQUIRED') return 'required'
  return choice === 'NONE' ? 'none' : undefined
}

/** A schema stands beside its type; older clients call it `schema`. */
function decodeFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (format?.type !== 'json_object') return undefined
  const schema = toObject(format.json_schema) ?? toObject(format.schema)
  if (schema === undefined) return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

/** Thinking tokens up to which an effort is less than high. */
const MINIMAL_BUDGET = 512
const LOW_BUDGET = 2048
const MEDIUM_BUDGET = 8192

function decodeThinking(thinking: JsonObject | undefined): string | undefined {
  if (thinking?.type === 'disabled') return 'none'
  if (thinking?.type !== 'enabled') return undefined
  const budget = thinking.token_budget
  if (typeof budget !== 'number') return 'high'
  if (budget <= MINIMAL_BUDGET) return 'minimal'
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}
