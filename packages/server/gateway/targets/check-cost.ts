import type { MeterSet } from '../../core/limits/list-meters.ts'
import { TOO_EXPENSIVE } from '../../core/models/cost-bound.ts'
import { SET_A_PRICE } from '../../core/models/set-a-price.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../../core/tenancy/tenancy.ts'
import { checkPriced } from './check-priced.ts'
import type { ResolvedTarget } from './target-selection.ts'

/**
 * Checks limits of money and the key's `max_request_cost_usd` for a request of which nothing can be lowered. `nanoUsd`: the most that it
 * may cost; null: unknown.
 */
export function checkCost(
  target: ResolvedTarget,
  nanoUsd: number | null,
  { caller, limits }: { readonly caller: Caller; readonly limits: MeterSet },
): Refusal | undefined {
  const limited = checkPriced(target, limits, nanoUsd !== null)
  const { maxRequestCostNanoUsd } = caller
  if (limited !== undefined || maxRequestCostNanoUsd === null) return limited
  if (nanoUsd !== null) return nanoUsd <= maxRequestCostNanoUsd ? undefined : TOO_EXPENSIVE
  const message = `The key has a max_request_cost_usd, and the price of the model ${target.id} is unknown. ${SET_A_PRICE}`
  return { code: 'model_unpriced', message, param: 'model' }
}
