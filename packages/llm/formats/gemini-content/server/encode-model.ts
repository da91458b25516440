import type { JsonObject } from '../../../json/json-value.ts'
import type { Listed } from '../../shared/listed-model.ts'

const METHODS = ['generateContent', 'streamGenerateContent', 'countTokens']

/** One entry of `GET /v1beta/models`. Unknown numbers are left out, as Google does. */
export function toModel(listed: Listed): JsonObject {
  const name = `models/${listed.id}`
  if ('targets' in listed) return { name, displayName: listed.id, supportedGenerationMethods: METHODS }
  const {
    display_name: displayName,
    context_window: input,
    max_output_tokens: output,
    capabilities,
  } = listed.model
  return {
    name,
    displayName,
    ...(input === null ? {} : { inputTokenLimit: input }),
    ...(output === null ? {} : { outputTokenLimit: output }),
    supportedGenerationMethods: capabilities.includes('chat') ? METHODS : [],
    ...(capabilities.includes('reasoning') ? { thinking: true } : {}),
  }
}
