import type { JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'
import { decodeContents } from './decode-contents.ts'
import { decodeSchema } from './decode-schema.ts'

type Asked = Omit<ChatRequest, 'model' | 'stream' | 'includeUsage'>

/**
 * What a request of this format asks of any provider. Its own matters stay behind: filters of safety, tools that its
 * provider runs, where in a film to look. `body` is checked before, and spelled in one way (spellCamel).
 */
export function decodeRequest(body: JsonObject): Asked {
  const config = toObject(body.generationConfig) ?? {}
  const calling = toObject(toObject(body.toolConfig)?.functionCallingConfig)
  const tools = keepAllowed(decodeTools(body), calling)
  const toolChoice = tools.length === 0 ? undefined : decodeToolChoice(calling)
  const stop = toArray(config.stopSequences) as string[]
  return {
    messages: decodeContents(body),
    ...(tools.length === 0 ? {} : { tools }),
    ...withoutAbsent({
      toolChoice,
      responseFormat: decodeFormat(config),
      maxOutputTokens: config.maxOutputTokens as number | undefined,
      temperature: config.temperature as number | undefined,
      topP: config.topP as number | undefined,
      seed: config.seed as number | undefined,
      presencePenalty: config.presencePenalty as number | undefined,
      frequencyPenalty: config.frequencyPenalty as number | undefined,
      reasoningEffort: decodeEffort(toObject(config.thinkingConfig)),
      stop: stop.length === 0 ? undefined : stop,
    }),
  }
}

function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> }
}

/** Of a function without parameters. */
const EMPTY: JsonObject = { type: 'object', properties: {} }

function decodeTools(body: JsonObject): FunctionTool[] {
  return toObjects(body.tools)
    .flatMap(tool => toObjects(tool.functionDeclarations))
    .map(({ name, description, parameters, parametersJsonSchema }) => {
      const older = toObject(parameters)
      const schema = toObject(parametersJsonSchema) ?? (older === undefined ? EMPTY : decodeSchema(older))
      return {
        type: 'function',
        function: {
          name: toText(name) ?? '',
          ...(typeof description === 'string' ? { description } : {}),
          parameters: schema,
        },
      }
    })
}

/** Who may call some functions only is told of those: other formats have one choice, all or a single one. */
function keepAllowed(tools: FunctionTool[], calling: JsonObject | undefined): FunctionTool[] {
  const names = toArray(calling?.allowedFunctionNames)
  return names.length === 0 ? tools : tools.filter(tool => names.includes(tool.function.name))
}

function decodeToolChoice(calling: JsonObject | undefined): ToolChoice | undefined {
  const names = toArray(calling?.allowedFunctionNames)
  switch (String(calling?.mode).toUpperCase()) {
    case 'NONE':
      return 'none'
    case 'ANY':
      return names.length === 1 ? { type: 'function', function: { name: String(names[0]) } } : 'required'
    // A call that fits its schema is what every provider means to give.
    case 'AUTO':
    case 'VALIDATED':
      return 'auto'
    default:
      return undefined
  }
}

function decodeFormat(config: JsonObject): ResponseFormat | undefined {
  const own = toObject(config.responseJsonSchema)
  const older = toObject(config.responseSchema)
  const schema = own ?? (older === undefined ? undefined : decodeSchema(older))
  if (schema !== undefined) return { type: 'json_schema', json_schema: { name: 'answer', schema } }
  return config.responseMimeType === 'application/json' ? { type: 'json_object' } : undefined
}

/** Budgets up to which an effort is low or medium, in tokens: as this format's own OpenAI-format address has them. */
const LOW_BUDGET = 1024
const MEDIUM_BUDGET = 8192

/** undefined: as the model pleases. */
function decodeEffort(thinking: JsonObject | undefined): string | undefined {
  const level = toText(thinking?.thinkingLevel)?.toLowerCase()
  if (level !== undefined && level !== 'thinking_level_unspecified') return level
  const budget = thinking?.thinkingBudget
  if (typeof budget !== 'number' || budget < 0) return undefined
  if (budget === 0) return 'none'
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}
