import type { Json } from '../../../json/json-value.ts'
import { FieldTable, nested, number, onlyHere, own, texts, unread } from '../../shared/field-table.ts'

/** The fields of `inferenceConfig`. */
export const INFERENCE = new FieldTable({
  maxTokens: number('maxOutputTokens', { min: 1, integer: true }),
  // OpenAI's scale goes to 2.
  temperature: { ...number('temperature'), write: value => Math.min(1, Number(value)) },
  topP: number('topP'),
  stopSequences: { ...texts('stop'), write: listWithText },
})

/** The fields of `toolConfig`. */
export const TOOLS = new FieldTable({
  tools: own('tools'),
  toolChoice: own('toolChoice'),
})

/** The fields of `additionalModelRequestFields` that the gateway knows: each maker asks for reasoning in its own way. */
export const MODEL_FIELDS = new FieldTable({
  thinking: own('reasoningEffort'),
  reasoning_config: own('reasoningEffort'),
  reasoningConfig: own('reasoningEffort'),
  reasoning_effort: own('reasoningEffort'),
  output_config: own('reasoningEffort'),
  top_k: onlyHere(),
  // A feature that is in beta at one maker has no meaning at another.
  anthropic_beta: unread(),
})

/** The fields of `POST /model/{model}/converse`. The path names the model. */
export const FIELDS = new FieldTable({
  messages: own('messages'),
  system: own(),
  inferenceConfig: nested(INFERENCE),
  toolConfig: nested(TOOLS),
  outputConfig: nested(new FieldTable({ textFormat: own('responseFormat') })),
  additionalModelRequestFields: nested(MODEL_FIELDS),
  additionalModelResponseFieldPaths: onlyHere(value => Array.isArray(value) && value.length === 0),
  // Kept with the log.
  requestMetadata: own(),
  serviceTier: own(),
  performanceConfig: own(),
})

/** Objects that multiply the price by one field, and the value of that field that leaves it as it is. */
export const USUAL_VALUES: ReadonlyMap<string, { readonly field: string; readonly usual: string }> = new Map([
  ['serviceTier', { field: 'type', usual: 'default' }],
  ['performanceConfig', { field: 'latency', usual: 'standard' }],
])

/** Bedrock refuses stop sequences of white space alone. */
function listWithText(stop: Json): Json | undefined {
  const kept = Array.isArray(stop) ? stop.filter(each => String(each).trim() !== '') : []
  return kept.length === 0 ? undefined : kept
}
