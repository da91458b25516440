import type { JsonObject } from '../../json/json-value.ts'
import { toText } from '../../json/json-value.ts'

/** Budgets up to which an effort is low or medium, in tokens. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384

/** Returns the canonical effort of Claude's `thinking` and `output_config`; undefined: none is asked for. */
export function toEffort(
  thinking: JsonObject | undefined,
  outputConfig: JsonObject | undefined,
): string | undefined {
  if (thinking?.type === 'disabled') return undefined
  const effort = toText(outputConfig?.effort)
  // Other formats have no effort above high.
  if (effort !== undefined) return effort === 'low' || effort === 'medium' ? effort : 'high'
  if (thinking?.type !== 'enabled') return undefined
  const budget = Number(thinking.budget_tokens ?? 0)
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}
