import type { JsonObject } from '@rideau/llm/json/json-value'
import { sendJson } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { findAllowed, type Listed, listAllowed } from './models.ts'

/** The format demands a day of release, which no catalogue here has. */
const RELEASED_AT = '1970-01-01T00:00:00Z'

/** `GET {anthropic prefix}/v1/models`: Anthropic's shape, never paged. */
export function serveAnthropicModels(ctx: IdentifiedContext): void {
  const data = listAllowed(ctx).map(toModel)
  sendJson(ctx, 200, {
    data,
    has_more: false,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  })
}

/** `GET {anthropic prefix}/v1/models/{model}`. */
export function serveAnthropicModel(ctx: IdentifiedContext, name: string): void {
  sendJson(ctx, 200, toModel(findAllowed(ctx, name)))
}

function toModel(listed: Listed): JsonObject & { id: string } {
  const name = 'targets' in listed ? listed.id : listed.model.display_name
  return { type: 'model', id: listed.id, display_name: name, created_at: RELEASED_AT }
}
