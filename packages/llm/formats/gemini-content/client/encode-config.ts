import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { Target } from '../../../upstream/target.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeThinking, findThinking } from './thinking.ts'

/** Writes `generationConfig` into a body: parameters, the format of the answer, and thinking. */
export function writeConfig(request: ChatRequest, { provider, model }: Target, body: JsonObject): void {
  // The cap includes thoughts, as the canonical one does.
  FIELDS.write(request, body)
  const config: JsonObject = toObject(body.generationConfig) ?? {}
  writeFormat(request.responseFormat, config)
  const effort = request.reasoningEffort
  const thinking = effort === undefined ? undefined : findThinking(provider, model)
  if (effort !== undefined && thinking !== undefined) config.thinkingConfig = encodeThinking(effort, thinking)
  if (Object.keys(config).length > 0) body.generationConfig = config
}

function writeFormat(format: ResponseFormat | undefined, config: JsonObject): void {
  if (format === undefined || format.type === 'text') return
  config.responseMimeType = 'application/json'
  if (format.type !== 'json_schema') return
  const { schema } = format.json_schema
  // The older `responseSchema` takes a part of JSON Schema only.
  if (schema !== undefined) config.responseJsonSchema = schema
}
