import type { JsonObject } from '@rideau/llm/json/json-value'
import { sendJson } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { findAllowed, type Listed, listAllowed } from './models.ts'

/** `GET {gemini prefix}/v1beta/models`: Google's shape, never paged. */
export function serveGeminiModels(ctx: IdentifiedContext): void {
  sendJson(ctx, 200, { models: listAllowed(ctx).map(toModel) })
}

/** `GET {gemini prefix}/v1beta/models/{model}`. */
export function serveGeminiModel(ctx: IdentifiedContext, name: string): void {
  sendJson(ctx, 200, toModel(findAllowed(ctx, name)))
}

/** Numbers that nobody knows are left out, as the format does. */
function toModel(listed: Listed): JsonObject {
  const name = `models/${listed.id}`
  if ('targets' in listed) {
    return { name, displayName: listed.id, supportedGenerationMethods: METHODS }
  }
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

const METHODS = ['generateContent', 'streamGenerateContent', 'countTokens']
