import { toObject } from '../../../json/json-value.ts'
import { FieldTable, number, onlyHere, own, texts } from '../../shared/field-table.ts'

/** The fields of `POST /v2/chat`. Source: docs/providers.md, "Cohere". */
export const FIELDS = new FieldTable({
  model: own('model'),
  messages: own('messages'),
  stream: own('stream'),
  tools: own('tools'),
  tool_choice: own('toolChoice'),
  response_format: own('responseFormat'),
  thinking: own('reasoningEffort'),
  max_tokens: number('maxOutputTokens', { min: 1, integer: true }),
  temperature: number('temperature'),
  p: number('topP'),
  stop_sequences: texts('stop'),
  seed: number('seed', { integer: true }),
  presence_penalty: number('presencePenalty'),
  frequency_penalty: number('frequencyPenalty'),
  k: onlyHere(value => value === 0),
  logprobs: onlyHere(value => value === false),
  strict_tools: onlyHere(value => value === false),
  documents: onlyHere(value => Array.isArray(value) && value.length === 0),
  // No other provider says anything of safety before a prompt, so `OFF` is what they do too.
  safety_mode: onlyHere(value => value === 'CONTEXTUAL' || value === 'OFF' || value === 'NONE'),
  citation_options: onlyHere(value => {
    const mode = toObject(value)?.mode
    return mode === undefined || mode === null || mode === 'OFF' || mode === 'DISABLED'
  }),
  // When the request is served: it changes no answer.
  priority: own(),
})
