import { isModelAllowed } from '../../core/authorize.ts'
import type { MeterSet } from '../../core/list-meters.ts'
import { SET_A_PRICE } from '../../core/set-a-price.ts'
import type { Refusal } from '../../core/verdict.ts'
import type { ResolvedTarget } from './call-plan.ts'
import type { TargetPlan } from './chat-plan.ts'

/** Returns the target, or the refusal of checkLimits in its place. */
export function checkTargetLimits(target: TargetPlan, asked: string, limits: MeterSet): TargetPlan {
  if ('refusal' in target) return target
  const refusal = checkLimits(target, asked, limits)
  return refusal === undefined ? target : { refusal }
}

/**
 * Refuses a target that the end user's plan does not allow, or whose price is unknown while a limit of money applies.
 */
export function checkLimits(
  { id, catalogModel }: ResolvedTarget,
  asked: string,
  limits: MeterSet,
  isPriced = (catalogModel?.pricing ?? null) !== null,
): Refusal | undefined {
  const allowed = limits.plan?.allowedModels ?? null
  if (!isModelAllowed(allowed, id, asked)) {
    return {
      code: 'model_not_allowed',
      message: `The end user's plan does not allow the model ${asked}.`,
      param: 'model',
    }
  }
  if (!limits.hasCostMeter || isPriced) return undefined
  return {
    code: 'model_unpriced',
    message: `A limit of money applies, and the price of the model ${id} is unknown. ${SET_A_PRICE}`,
    param: 'model',
  }
}
