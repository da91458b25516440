import type { JsonObject } from '../../../json/json-value.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { Usage } from '../../../usage/usage.ts'
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../usage/usage-sums.ts'
import type { RepeatedFields } from '../../shared/requests/parsed-chat.ts'

/** The fields of a response that do not change while it is written. */
export interface ResponseHead extends ReplyEnvelope, RepeatedFields {}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

export interface ResponseState {
  readonly status: ResponseStatus
  readonly output: readonly JsonObject[]
  readonly usage?: Usage
  readonly incomplete?: 'max_output_tokens' | 'content_filter'
  readonly error?: { readonly code: string; readonly message: string }
}

/** The `response` object, with every field that OpenAI's published schema requires. */
export function encodeResponse({ id, created, model, echo }: ResponseHead, state: ResponseState): JsonObject {
  return {
    id,
    object: 'response',
    created_at: created,
    status: state.status,
    background: false,
    completed_at: state.status === 'completed' ? created : null,
    error: state.error ?? null,
    incomplete_details: state.incomplete === undefined ? null : { reason: state.incomplete },
    model,
    output: [...state.output],
    previous_response_id: null,
    store: false,
    truncation: 'disabled',
    ...echo,
    // An incomplete response has no usage, and the schema does not allow null.
    ...(state.usage === undefined ? {} : { usage: encodeUsage(state.usage) }),
  }
}

function encodeUsage(usage: Usage): JsonObject {
  const input = inputTokens(usage)
  const output = outputTokens(usage)
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWriteTokens(usage) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}
