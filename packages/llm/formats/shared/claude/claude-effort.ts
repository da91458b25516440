import type { JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'

/** Budgets up to which an effort is low or medium, in tokens. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max']

/** Returns the effort that Claude's `thinking` and `output_config` ask for, in Claude's words; undefined: the model decides. */
export function toEffort(
  thinking: JsonObject | undefined,
  outputConfig: JsonObject | undefined,
): string | undefined {
  if (thinking?.type === 'disabled') return 'none'
  const effort = toText(outputConfig?.effort)
  if (effort !== undefined) return EFFORTS.includes(effort) ? effort : 'high'
  if (thinking?.type !== 'enabled') return undefined
  const budget = Number(thinking.budget_tokens ?? 0)
  if (budget <= LOW_BUDGET) return 'low'
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high'
}
