import type { Json } from '../../../json/json-value.ts'
import {
  BUDGET,
  CAP,
  DATA,
  forKeys,
  MODEL,
  SCALAR,
  STREAM,
  toObjectRule,
  toUsualRule,
} from '../../../upstream/outgoing-rules.ts'
import { fitTemperature } from '../../shared/adapted/temperature-scale.ts'
import { CACHE_MARK } from '../../shared/requests/chat-rules.ts'
import {
  type Field,
  FieldTable,
  formatSpecific,
  number,
  opaque,
  own,
  sent,
  texts,
} from '../../shared/requests/field-table.ts'
import { isEmptyRecord } from '../../shared/requests/harmless-params.ts'
import { MESSAGES, SYSTEM } from './message-rules.ts'
import { TOOL_CHOICE, TOOLS } from './tool-rules.ts'

/** Fields that multiply the price, and the values that leave it as it is. */
export const USUAL_VALUES: ReadonlyMap<string, readonly Json[]> = new Map([
  ['speed', ['standard']],
  ['inference_geo', ['global']],
  ['service_tier', ['auto', 'standard_only']],
])

const THINKING = toObjectRule({ type: SCALAR, budget_tokens: BUDGET, display: SCALAR }, 'reserved')
const FORMAT = toObjectRule({ type: SCALAR, schema: DATA })

/** A field whose value must have the usual price. */
function priced(name: string): Field {
  return sent(toUsualRule(USUAL_VALUES.get(name) ?? []))
}

/** Fields that say what the model is given. A count of tokens has them too. */
const INPUT: Readonly<Record<string, Field>> = {
  model: sent(MODEL, own('model')),
  messages: sent(MESSAGES, own('messages')),
  system: sent(SYSTEM),
  tools: sent(TOOLS, own('tools')),
  tool_choice: sent(TOOL_CHOICE, own('toolChoice', 'parallelToolCalls')),
  thinking: sent(THINKING, own('reasoningEffort')),
  output_config: sent(toObjectRule({ effort: SCALAR, format: FORMAT }), own('responseFormat')),
  // The place of `output_config.format` in requests of older clients.
  output_format: sent(FORMAT),
  service_tier: priced('service_tier'),
  speed: priced('speed'),
  inference_geo: priced('inference_geo'),
  // The whole request's own mark, which no other format has a place for.
  cache_control: sent(CACHE_MARK, formatSpecific()),
  // Which part of a long conversation the provider keeps: at other providers all of it is kept.
  context_management: sent(forKeys(DATA), opaque()),
  betas: sent(forKeys(SCALAR), opaque()),
  anthropic_beta: sent(forKeys(SCALAR), opaque()),
}

/** Fields that say how the model answers. A provider refuses them in a count of tokens. */
const ANSWER: Readonly<Record<string, Field>> = {
  max_tokens: sent(CAP, number('maxOutputTokens', { min: 1, integer: true })),
  stream: sent(STREAM, own('stream')),
  temperature: { ...number('temperature'), write: fitTemperature },
  top_p: number('topP'),
  top_k: sent(SCALAR, formatSpecific()),
  stop_sequences: {
    ...texts('stop'),
    write: value => (Array.isArray(value) && value.length > 0 ? value : undefined),
  },
  // The log names the user. No provider of another format is told.
  metadata: sent(toObjectRule({ user_id: SCALAR }), {
    ...own('user'),
    ...formatSpecific(isEmptyRecord),
    write: toMetadata,
  }),
}

/** The fields of `POST /v1/messages`. */
export const FIELDS = new FieldTable(
  { ...INPUT, ...ANSWER },
  // Clouds take the version in the body.
  { written: { anthropic_version: SCALAR } },
)

export const ANSWER_FIELDS: readonly string[] = Object.keys(ANSWER)

/** Anthropic asks for an opaque id, so an e-mail address is not sent. */
function toMetadata(user: Json): Json | undefined {
  if (typeof user !== 'string' || user === '' || user.length > 256 || user.includes('@')) return undefined
  return { user_id: user }
}
