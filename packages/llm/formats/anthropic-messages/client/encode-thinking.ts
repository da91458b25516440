import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ModelTraits } from './model-traits.ts'

export interface EncodedThinking {
  readonly thinking?: JsonObject
  /** The value of `output_config.effort`. */
  readonly effort?: string
}

/** The smallest budget that the provider takes, in tokens. */
const MIN_BUDGET = 1024
/** Budgets in tokens, for models that take one. */
const BUDGETS: Readonly<Record<string, number>> = toTable({
  minimal: MIN_BUDGET,
  low: 4096,
  medium: 12_288,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
})

/**
 * Returns the effort in the form that the model takes: a level or a budget. Both absent: the request asks for none, or the
 * model cannot think for it. `maxTokens`: the cap on thinking and answer together.
 */
export function encodeThinking(
  request: ChatRequest,
  traits: ModelTraits,
  maxTokens: number,
): EncodedThinking {
  const effort = request.reasoningEffort
  if (effort === undefined || traits.thinking === 'none') return {}
  if (effort === 'none') return encodeNone(traits)
  if (traits.thinking === 'adaptive') {
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: toEffort(effort, traits) }
  }
  const wanted = BUDGETS[effort] ?? BUDGETS.medium
  const budget = Math.min(wanted as number, Math.max(MIN_BUDGET, Math.floor(maxTokens / 2)))
  if (budget >= maxTokens) return {}
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** A model that cannot be kept from thinking is asked for the least of it. */
function encodeNone({ alwaysThinks, thinksByDefault }: ModelTraits): EncodedThinking {
  if (alwaysThinks) return { effort: 'low' }
  return thinksByDefault ? { thinking: { type: 'disabled' } } : {}
}

function toEffort(effort: string, { efforts }: ModelTraits): string {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && !efforts.includes('xhigh') ? 'max' : effort
}
