import type { JsonObject } from '../../../json/json-value.ts'
import type { ModelListEntry } from '../../shared/listed-model.ts'

const METHODS = ['generateContent', 'streamGenerateContent', 'countTokens']
const EMBEDDING_METHODS = ['embedContent', 'batchEmbedContents']

/** One entry of `GET /v1beta/models`. Unknown numbers are left out, as Google does. */
export function toModel(listed: ModelListEntry): JsonObject {
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
    supportedGenerationMethods: listMethods(capabilities),
    ...(capabilities.includes('reasoning') ? { thinking: true } : {}),
  }
}

function listMethods(capabilities: readonly string[]): string[] {
  const methods = capabilities.includes('chat') ? METHODS : []
  return capabilities.includes('embeddings') ? [...methods, ...EMBEDDING_METHODS] : methods
}
