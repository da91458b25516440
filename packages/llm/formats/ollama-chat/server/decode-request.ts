import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { FunctionTool } from '../../../request/tools.ts'
import { decodeMessages } from './decode-messages.ts'

type Asked = Omit<ChatRequest, 'model' | 'stream' | 'includeUsage'>

/**
 * What a request of this format asks of any provider. Its own matters stay behind: how its server keeps and runs a model.
 * `body` is checked before.
 */
export function decodeRequest(body: JsonObject): Asked {
  const options = toObject(body.options) ?? {}
  const tools = toObjects(body.tools).map(decodeTool)
  return {
    messages: decodeMessages(body.messages),
    ...(tools.length === 0 ? {} : { tools }),
    ...withoutAbsent({
      responseFormat: decodeFormat(body.format),
      reasoningEffort: decodeEffort(body.think),
      maxOutputTokens: toCap(options.num_predict),
      temperature: options.temperature as number | undefined,
      topP: options.top_p as number | undefined,
      seed: options.seed as number | undefined,
      presencePenalty: options.presence_penalty as number | undefined,
      frequencyPenalty: options.frequency_penalty as number | undefined,
      stop: decodeStop(options.stop),
    }),
  }
}

function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> }
}

function decodeTool({ function: given }: JsonObject): FunctionTool {
  const { name, description, parameters } = toObject(given) ?? {}
  return {
    type: 'function',
    function: {
      name: toText(name) ?? '',
      ...(typeof description === 'string' ? { description } : {}),
      parameters: toObject(parameters) ?? { type: 'object', properties: {} },
    },
  }
}

/** `json`, or a schema. */
function decodeFormat(format: Json | undefined): ResponseFormat | undefined {
  const schema = toObject(format)
  if (schema !== undefined) return { type: 'json_schema', json_schema: { name: 'answer', schema } }
  return format === 'json' ? { type: 'json_object' } : undefined
}

/** A model thinks or does not; one family is told how much. */
function decodeEffort(think: Json | undefined): string | undefined {
  if (typeof think === 'boolean') return think ? 'medium' : 'none'
  return toText(think)
}

/** Below nothing: as much as there is. */
function toCap(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}

function decodeStop(value: Json | undefined): readonly string[] | undefined {
  const texts = typeof value === 'string' ? [value] : (toArray(value) as string[])
  return texts.length === 0 ? undefined : texts
}
