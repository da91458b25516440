import type { Json } from '../../../json/json-value.ts'
import { extra, FieldTable, flag, nested, number, onlyHere, own, text } from '../../shared/field-table.ts'
import { flagAt, numberAt } from '../../shared/read-fields.ts'

const REASONING = new FieldTable({
  effort: text('reasoningEffort'),
  // Whether an answer shows its reasoning.
  summary: own(),
  generate_summary: own(),
  mode: onlyHere(isAuto),
  context: onlyHere(isAuto),
})

const TEXT = new FieldTable({
  format: own('responseFormat'),
  verbosity: extra(
    'verbosity',
    onlyHere(value => value === 'medium'),
  ),
})

/** The objects of a request that have fields of their own. */
export const NESTED_FIELDS = { reasoning: REASONING, text: TEXT } as const

/** The fields of `POST /v1/responses`. Source: docs/providers.md, "OpenAI's Responses". */
export const FIELDS = new FieldTable({
  model: own('model'),
  input: own('messages'),
  instructions: own(),
  stream: own('stream'),
  stream_options: own(),
  tools: own('tools'),
  tool_choice: own('toolChoice'),
  parallel_tool_calls: flag('parallelToolCalls'),
  max_tool_calls: own(),
  text: nested(TEXT),
  reasoning: nested(REASONING),
  max_output_tokens: number('maxOutputTokens', { min: 1, integer: true }),
  temperature: number('temperature'),
  top_p: number('topP'),
  top_logprobs: onlyHere(value => typeof value === 'number' && value <= 0, numberAt),
  user: text('user'),
  safety_identifier: extra('safety_identifier'),
  metadata: extra('metadata'),
  client_metadata: own(),
  store: extra(
    'store',
    onlyHere(value => value === false, flagAt),
  ),
  service_tier: extra('service_tier'),
  prompt_cache_key: extra('prompt_cache_key'),
  prompt_cache_retention: extra('prompt_cache_retention'),
  prompt_cache_options: extra('prompt_cache_options'),
  truncation: onlyHere(value => value === 'disabled'),
  include: onlyHere(value => !Array.isArray(value) || !value.includes('message.output_text.logprobs')),
  // These two refer to what the provider keeps.
  previous_response_id: own(),
  conversation: own(),
  // These two are refused: an answer that is fetched later, and a stored prompt, cannot be billed.
  background: own(),
  prompt: own(),
})

/** Fields that refer to state at the provider. */
export const STATE_FIELDS: ReadonlySet<string> = new Set(['previous_response_id', 'conversation'])

function isAuto(value: Json): boolean {
  return value === 'auto'
}
