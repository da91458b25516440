import type { Json } from '../../../json/json-value.ts'
import {
  DATA,
  METADATA,
  MODEL,
  REFUSED,
  SCALAR,
  STORE,
  STORED,
  STREAM,
  toCapRule,
  toObjectRule,
  toUsualRule,
} from '../../../upstream/outgoing-rules.ts'
import { USUAL_REASONING_MODES } from '../../../upstream/reserved-names.ts'
import { flagAt, numberAt } from '../../shared/reading/read-fields.ts'
import { CACHE_OPTIONS, CACHE_TTL, REASONING_MODE, STREAM_OPTIONS } from '../../shared/requests/chat-rules.ts'
import {
  extra,
  FieldTable,
  flag,
  formatSpecific,
  nested,
  number,
  own,
  sent,
  text,
} from '../../shared/requests/field-table.ts'
import { isEmptyRecord } from '../../shared/requests/harmless-params.ts'
import { INPUT } from './item-rules.ts'
import { TOOL_CHOICE, TOOLS } from './tool-rules.ts'

/** OpenAI refuses a lower output cap. Source: docs/providers.md, "OpenAI's Responses". */
export const MIN_OUTPUT_TOKENS = 16

const REASONING = new FieldTable(
  {
    effort: text('reasoningEffort'),
    // Whether an answer shows its reasoning. No other format has the field.
    summary: sent(SCALAR, formatSpecific()),
    generate_summary: sent(SCALAR, formatSpecific()),
    mode: sent(REASONING_MODE, formatSpecific(isUsualMode)),
    context: sent(SCALAR, formatSpecific(isAuto)),
  },
  // OpenRouter's. What it spends is output, which the cap bounds.
  { written: { max_tokens: SCALAR } },
)

const TEXT = new FieldTable(
  {
    format: sent(
      toObjectRule({ type: SCALAR, name: SCALAR, description: SCALAR, schema: DATA, strict: SCALAR }),
      own('responseFormat'),
    ),
    verbosity: sent(
      SCALAR,
      extra(
        'verbosity',
        formatSpecific(value => value === 'medium'),
      ),
    ),
  },
  { unknown: 'free' },
)

/** The objects of a request that have fields of their own. */
export const NESTED_FIELDS = { reasoning: REASONING, text: TEXT } as const

/** The fields of `POST /v1/responses`. Source: docs/providers.md, "OpenAI's Responses". */
export const FIELDS = new FieldTable({
  model: sent(MODEL, own('model')),
  input: sent(INPUT, own('messages')),
  instructions: sent(SCALAR),
  stream: sent(STREAM, own('stream')),
  stream_options: sent(STREAM_OPTIONS),
  tools: sent(TOOLS, own('tools')),
  tool_choice: sent(TOOL_CHOICE, own('toolChoice')),
  parallel_tool_calls: flag('parallelToolCalls'),
  max_tool_calls: sent(SCALAR),
  text: nested(TEXT),
  reasoning: nested(REASONING),
  max_output_tokens: sent(toCapRule(MIN_OUTPUT_TOKENS), number('maxOutputTokens', { min: 1, integer: true })),
  temperature: number('temperature'),
  top_p: number('topP'),
  top_logprobs: formatSpecific(value => typeof value === 'number' && value <= 0, numberAt),
  user: text('user'),
  // For the provider's records and its cache. A target of another format does not get them.
  safety_identifier: sent(SCALAR, extra('safety_identifier', formatSpecific())),
  metadata: sent(METADATA, extra('metadata', formatSpecific(isEmptyRecord))),
  client_metadata: sent(METADATA, formatSpecific(isEmptyRecord)),
  store: sent(
    STORE,
    extra(
      'store',
      formatSpecific(value => value === false, flagAt),
    ),
  ),
  service_tier: sent(toUsualRule(['auto', 'default']), extra('service_tier')),
  prompt_cache_key: sent(SCALAR, extra('prompt_cache_key', formatSpecific())),
  prompt_cache_retention: sent(CACHE_TTL, extra('prompt_cache_retention', formatSpecific())),
  prompt_cache_options: sent(CACHE_OPTIONS, extra('prompt_cache_options', formatSpecific())),
  truncation: sent(
    SCALAR,
    formatSpecific(value => value === 'disabled'),
  ),
  include: sent(
    SCALAR,
    formatSpecific(value => !Array.isArray(value) || !value.includes('message.output_text.logprobs')),
  ),
  // These two refer to what the provider keeps.
  previous_response_id: sent(STORED),
  conversation: sent(STORED),
  // These two are refused: an answer that is fetched later, and a stored prompt, cannot be billed.
  background: sent(toUsualRule([false])),
  prompt: sent(REFUSED),
})

/** Fields that refer to state at the provider. */
export const STORED_STATE_FIELDS: ReadonlySet<string> = new Set(['previous_response_id', 'conversation'])

function isUsualMode(value: Json): boolean {
  return USUAL_REASONING_MODES.includes(value)
}

function isAuto(value: Json): boolean {
  return value === 'auto'
}
