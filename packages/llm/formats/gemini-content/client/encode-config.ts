import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { Target } from '../../../upstream/target.ts'
import { encodeThinking, findThinking } from './thinking.ts'

type ConfigName =
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'candidateCount'

/** `generationConfig`: everything about the answer that is no message and no tool. */
export function encodeConfig(
  request: ChatRequest,
  { provider, model }: Target,
  dropped: readonly string[],
): JsonObject {
  const config: JsonObject = {}
  const set = (name: ConfigName, value: Json | undefined): void => {
    if (value !== undefined) config[name] = value
  }
  // Thoughts count as output there too, so the cap means what the caller's does.
  set('maxOutputTokens', request.maxOutputTokens)
  set('temperature', request.temperature)
  set('topP', request.topP)
  set('topK', toNumber(request.extra?.get('top_k')))
  set('seed', request.seed)
  set('presencePenalty', request.presencePenalty)
  set('frequencyPenalty', request.frequencyPenalty)
  if (request.stop !== undefined && request.stop.length > 0) set('stopSequences', [...request.stop])
  const choices = toNumber(request.extra?.get('n'))
  if (choices !== undefined && choices > 1) set('candidateCount', choices)
  Object.assign(config, encodeFormat(request.responseFormat))
  const effort = request.reasoningEffort
  const thinking = effort === undefined ? undefined : findThinking(provider, model)
  if (effort !== undefined && thinking !== undefined && !dropped.includes('reasoning_effort')) {
    config.thinkingConfig = encodeThinking(effort, thinking)
  }
  return config
}

function toNumber(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function encodeFormat(format: ResponseFormat | undefined): JsonObject {
  if (format === undefined || format.type === 'text') return {}
  const responseMimeType = 'application/json'
  if (format.type !== 'json_schema') return { responseMimeType }
  const { schema } = format.json_schema
  // JSON Schema as it is: the older `responseSchema` refuses much of it.
  return schema === undefined ? { responseMimeType } : { responseMimeType, responseJsonSchema: schema }
}
