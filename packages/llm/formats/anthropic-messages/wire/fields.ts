import type { Json } from '../../../json/json-value.ts'
import { type Field, FieldTable, number, onlyHere, own, texts, unread } from '../../shared/field-table.ts'

/** Fields that say what the model is given. A count of tokens has them too. */
const INPUT: Readonly<Record<string, Field>> = {
  model: own('model'),
  messages: own('messages'),
  system: own(),
  tools: own('tools'),
  tool_choice: own('toolChoice', 'parallelToolCalls'),
  thinking: own('reasoningEffort'),
  output_config: own('responseFormat'),
  // The place of `output_config.format` in requests of older clients.
  output_format: own(),
  service_tier: own(),
  speed: own(),
  inference_geo: own(),
  cache_control: own(),
  // Which part of a long conversation the provider keeps: at other providers all of it is kept.
  context_management: unread(),
  betas: unread(),
  anthropic_beta: unread(),
}

/** Fields that say how the model answers. A provider refuses them in a count of tokens. */
const ANSWER: Readonly<Record<string, Field>> = {
  max_tokens: number('maxOutputTokens', { min: 1, integer: true }),
  stream: own('stream'),
  // OpenAI's scale goes to 2.
  temperature: { ...number('temperature'), write: value => Math.min(Math.max(Number(value), 0), 1) },
  top_p: number('topP'),
  top_k: onlyHere(),
  stop_sequences: {
    ...texts('stop'),
    write: value => (Array.isArray(value) && value.length > 0 ? value : undefined),
  },
  metadata: { ...own('user'), write: toMetadata },
}

/** The fields of `POST /v1/messages`. */
export const FIELDS = new FieldTable({ ...INPUT, ...ANSWER })

export const ANSWER_FIELDS: readonly string[] = Object.keys(ANSWER)

/** Fields that multiply the price, and the values that leave it as it is. */
export const USUAL_VALUES: ReadonlyMap<string, readonly Json[]> = new Map([
  ['speed', ['standard']],
  ['inference_geo', ['global']],
  ['service_tier', ['auto', 'standard_only']],
])

/** Anthropic asks for an opaque id, so an e-mail address is not sent. */
function toMetadata(user: Json): Json | undefined {
  if (typeof user !== 'string' || user === '' || user.length > 256 || user.includes('@')) return undefined
  return { user_id: user }
}
