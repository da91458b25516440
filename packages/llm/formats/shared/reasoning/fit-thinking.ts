import type { Json } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'

/** The smallest thinking budget that Claude takes, in tokens. */
const MIN_BUDGET = 1024

/**
 * Returns Claude's `thinking` as it came, unless the output cap is its budget or less, which Claude refuses: then with half of
 * the cap. undefined: the cap leaves no room to think. `received`: the caller's own cap in a body of Claude's own format. Claude itself judges
 * a budget of just that. A larger one it would take beside a beta, and think beyond the cap, which is all that is reserved.
 */
export function fitThinking(
  thinking: Json | undefined,
  cap: number | undefined,
  received: Json | undefined,
): Json | undefined {
  const given = toObject(thinking)
  const budget = given?.budget_tokens
  if (cap === undefined || typeof budget !== 'number' || budget < cap) return thinking
  if (cap === received && budget === cap) return thinking
  if (cap <= MIN_BUDGET) return undefined
  return { ...given, budget_tokens: Math.max(MIN_BUDGET, Math.floor(cap / 2)) }
}
