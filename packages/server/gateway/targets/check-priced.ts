import type { MeterSet } from '../../core/limits/list-meters.ts'
import { SET_A_PRICE } from '../../core/models/set-a-price.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { ChatTargetVerdict } from './chat-selection.ts'
import type { ResolvedTarget } from './target-selection.ts'

/** Returns the target, or the refusal of checkPriced in its place. */
export function checkTargetPriced(target: ChatTargetVerdict, limits: MeterSet): ChatTargetVerdict {
  if ('refusal' in target) return target
  const refusal = checkPriced(target, limits)
  return refusal === undefined ? target : { refusal }
}

/** Refuses a target whose price is unknown while a limit of money applies. */
export function checkPriced(
  { id, catalogModel }: ResolvedTarget,
  limits: MeterSet,
  isPriced = (catalogModel?.pricing ?? null) !== null,
): Refusal | undefined {
  if (!limits.hasCostMeter || isPriced) return undefined
  return {
    code: 'model_unpriced',
    message: `A limit of money applies, and the price of the model ${id} is unknown. ${SET_A_PRICE}`,
    param: 'model',
  }
}
