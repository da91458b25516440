import { isModelAllowed } from '../../core/authorize.ts'
import type { MeterSet } from '../../core/meters.ts'
import type { TargetPlan } from '../chat-plan.ts'

/** Refuses a target that the end user's plan does not list, or whose price is unknown where a limit of money applies. */
export function holdToLimits(target: TargetPlan, asked: string, limits: MeterSet): TargetPlan {
  if ('refusal' in target) return target
  const allowed = limits.plan?.allowedModels ?? null
  if (!isModelAllowed(allowed, target.id, asked)) {
    return {
      refusal: {
        code: 'model_not_allowed',
        message: `The end user's plan does not allow the model ${asked}.`,
        param: 'model',
      },
    }
  }
  if (!limits.hasMoney || (target.catalogModel?.pricing ?? null) !== null) return target
  return {
    refusal: {
      code: 'model_unpriced',
      message: "A limit of money applies, and this model's price is unknown.",
      param: 'model',
    },
  }
}
