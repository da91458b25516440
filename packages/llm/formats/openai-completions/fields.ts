import type { Json } from '../../json/json-value.ts'
import { CAP, CHOICES, DATA, MODEL, type Rule, SCALAR, STREAM } from '../../upstream/outgoing-rules.ts'
import { parseStop } from '../shared/requests/chat-fields.ts'
import { STREAM_OPTIONS } from '../shared/requests/chat-rules.ts'
import { checked, FieldTable, number, own, sent, text } from '../shared/requests/field-table.ts'

/** Texts, or the numbers of their tokens. Each has answers of its own. */
const PROMPT: Rule = {
  check: (value, { choices }) => (countPrompts(value) <= choices ? undefined : ''),
}

/** The fields of `POST /completions`. Each answer is paid for, also those of `best_of` that are not sent. */
export const FIELDS = new FieldTable({
  model: sent(MODEL, own('model')),
  prompt: sent(PROMPT, own('messages')),
  suffix: sent(SCALAR),
  max_tokens: sent(CAP, number('maxOutputTokens', { min: 1, integer: true })),
  n: sent(CHOICES),
  best_of: sent(CHOICES),
  stream: sent(STREAM, own('stream')),
  stream_options: sent(STREAM_OPTIONS, own('includeUsage')),
  echo: sent(SCALAR),
  logprobs: sent(SCALAR),
  logit_bias: sent(DATA),
  temperature: number('temperature'),
  top_p: number('topP'),
  stop: checked('stop', value => parseStop(value, { strict: false })),
  seed: number('seed', { integer: true }),
  presence_penalty: number('presencePenalty'),
  frequency_penalty: number('frequencyPenalty'),
  user: text('user'),
})

/** Infinity: prompts of several kinds, or none. */
function countPrompts(value: Json): number {
  if (typeof value === 'string') return 1
  if (!Array.isArray(value)) return Number.POSITIVE_INFINITY
  if (value.every(isToken)) return 1
  const isList = value.every(isText) || value.every(isTokens)
  return isList ? value.length : Number.POSITIVE_INFINITY
}

function isText(value: Json): boolean {
  return typeof value === 'string'
}

function isTokens(value: Json): boolean {
  return Array.isArray(value) && value.every(isToken)
}

export function isToken(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
