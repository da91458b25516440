import { toObject } from '../../../json/json-value.ts'
import { CAP, MODEL, type Rule, SCALAR, STREAM, toObjectRule } from '../../../upstream/outgoing-rules.ts'
import { SCHEMA_FORMAT, TOOLS } from '../../shared/requests/chat-rules.ts'
import { FieldTable, formatSpecific, number, own, sent, texts } from '../../shared/requests/field-table.ts'
import { DOCUMENTS, MESSAGES } from './message-rules.ts'

const THINKING = toObjectRule({ type: SCALAR, token_budget: SCALAR }, 'reserved')

/** A client token may not loosen the filter. */
const SAFETY: Rule = {
  check: (value, grant) =>
    grant.sender !== 'end_user' || value === 'CONTEXTUAL' || value === 'STRICT'
      ? SCALAR.check(value, grant)
      : '',
}

/** The fields of `POST /v2/chat`. Source: docs/providers.md, "Cohere". */
export const FIELDS = new FieldTable({
  model: sent(MODEL, own('model')),
  messages: sent(MESSAGES, own('messages')),
  stream: sent(STREAM, own('stream')),
  tools: sent(TOOLS, own('tools')),
  tool_choice: sent(SCALAR, own('toolChoice')),
  response_format: sent(SCHEMA_FORMAT, own('responseFormat')),
  thinking: sent(THINKING, own('reasoningEffort')),
  max_tokens: sent(CAP, number('maxOutputTokens', { min: 1, integer: true })),
  temperature: number('temperature'),
  p: number('topP'),
  stop_sequences: texts('stop'),
  seed: number('seed', { integer: true }),
  presence_penalty: number('presencePenalty'),
  frequency_penalty: number('frequencyPenalty'),
  k: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  logprobs: sent(
    SCALAR,
    formatSpecific(value => value === false),
  ),
  strict_tools: sent(
    SCALAR,
    formatSpecific(value => value === false),
  ),
  documents: sent(
    DOCUMENTS,
    formatSpecific(value => Array.isArray(value) && value.length === 0),
  ),
  // No other provider says anything of safety before a prompt, so `OFF` is what they do too.
  safety_mode: sent(
    SAFETY,
    formatSpecific(value => value === 'CONTEXTUAL' || value === 'OFF' || value === 'NONE'),
  ),
  citation_options: sent(
    toObjectRule({ mode: SCALAR }, 'reserved'),
    formatSpecific(value => {
      const mode = toObject(value)?.mode
      return mode === undefined || mode === null || mode === 'OFF' || mode === 'DISABLED'
    }),
  ),
  // When the request is served: it changes no answer.
  priority: sent(SCALAR),
})
