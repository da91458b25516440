import { isBlank } from '../../../json/is-blank.ts'
import type { Json } from '../../../json/json-value.ts'
import {
  BUDGET,
  CAP,
  DATA,
  forKeys,
  METADATA,
  type Rule,
  SCALAR,
  toListRule,
  toObjectRule,
  toTextOrRule,
  toUsualRule,
} from '../../../upstream/outgoing-rules.ts'
import { fitTemperature } from '../../shared/adapted/temperature-scale.ts'
import {
  FieldTable,
  formatSpecific,
  nested,
  number,
  opaque,
  own,
  sent,
  texts,
} from '../../shared/requests/field-table.ts'
import { isEmptyRecord } from '../../shared/requests/harmless-params.ts'
import { MESSAGES, SYSTEM, TOOL, TOOL_CHOICE } from './block-rules.ts'

/** The fields of `inferenceConfig`. */
export const INFERENCE = new FieldTable({
  maxTokens: sent(CAP, number('maxOutputTokens', { min: 1, integer: true })),
  temperature: { ...number('temperature'), write: fitTemperature },
  topP: number('topP'),
  stopSequences: { ...texts('stop'), write: keepWithText },
})

/** The fields of `toolConfig`. */
export const TOOLS = new FieldTable({
  tools: sent(toListRule(TOOL), own('tools')),
  toolChoice: sent(TOOL_CHOICE, own('toolChoice')),
})

const REASONING = toTextOrRule(
  toObjectRule(
    { type: SCALAR, budget_tokens: BUDGET, display: SCALAR, maxReasoningEffort: SCALAR },
    'reserved',
  ),
)

/** The fields of `additionalModelRequestFields` that the gateway knows: each maker asks for reasoning in its own way. */
export const MODEL_FIELDS = new FieldTable({
  thinking: sent(REASONING, own('reasoningEffort')),
  reasoning_config: sent(REASONING, own('reasoningEffort')),
  reasoningConfig: sent(REASONING, own('reasoningEffort')),
  reasoning_effort: sent(SCALAR, own('reasoningEffort')),
  output_config: sent(toObjectRule({ effort: SCALAR, format: DATA }), own('reasoningEffort')),
  top_k: sent(SCALAR, formatSpecific()),
  // A feature that is in beta at one maker has no meaning at another.
  anthropic_beta: sent(forKeys(SCALAR), opaque()),
})

/** Objects that multiply the price by one field, and the value of that field that leaves it as it is. */
export const USUAL_VALUES: ReadonlyMap<string, { readonly field: string; readonly usual: string }> = new Map([
  ['serviceTier', { field: 'type', usual: 'default' }],
  ['performanceConfig', { field: 'latency', usual: 'standard' }],
])

const JSON_SCHEMA = toObjectRule({ name: SCALAR, description: SCALAR, schema: DATA })
const FORMAT = toObjectRule({ type: SCALAR, structure: toObjectRule({ jsonSchema: JSON_SCHEMA }) })

/** An object that has the usual price, or is refused. */
function priced(name: string): Rule {
  const { field = '', usual = '' } = USUAL_VALUES.get(name) ?? {}
  return toObjectRule({ [field]: toUsualRule([usual]) }, 'refused')
}

/** The fields of `POST /model/{model}/converse`. The path names the model. */
export const FIELDS = new FieldTable({
  messages: sent(MESSAGES, own('messages')),
  system: sent(SYSTEM),
  inferenceConfig: nested(INFERENCE),
  toolConfig: nested(TOOLS),
  // Its effort is read together with the makers' own fields for it.
  outputConfig: nested(
    new FieldTable({ textFormat: sent(FORMAT, own('responseFormat')), effort: sent(SCALAR) }),
  ),
  additionalModelRequestFields: nested(MODEL_FIELDS),
  additionalModelResponseFieldPaths: sent(
    SCALAR,
    formatSpecific(value => Array.isArray(value) && value.length === 0),
  ),
  // Kept with the log.
  requestMetadata: sent(METADATA, formatSpecific(isEmptyRecord)),
  serviceTier: sent(priced('serviceTier')),
  performanceConfig: sent(priced('performanceConfig')),
})

/** Bedrock refuses stop sequences of white space alone. */
function keepWithText(stop: Json): Json | undefined {
  const kept = Array.isArray(stop) ? stop.filter(sequence => !isBlank(String(sequence))) : []
  return kept.length === 0 ? undefined : kept
}
