import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import type { Target } from '../../../upstream/target.ts'
import { FIELDS } from '../wire/fields.ts'
import { encodeThinking, findThinking } from './thinking.ts'

/** Writes `generationConfig` into a body: everything about the answer that is no message and no tool. */
export function writeConfig(request: ChatRequest, { provider, model }: Target, body: JsonObject): void {
  // Thoughts count as output there too, so the cap means what the caller's does.
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
  // JSON Schema as it is: the older `responseSchema` refuses much of it.
  if (schema !== undefined) config.responseJsonSchema = schema
}
