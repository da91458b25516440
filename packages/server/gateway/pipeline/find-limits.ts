import type { MeterSet } from '../../core/list-meters.ts'
import { assertPlanScope } from '../plan/assert-plan-scope.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** What limits the request, once it is known who calls and on whose behalf. Refuses what the end user's plan leaves out. */
export function findLimits(ctx: IdentifiedContext, deps: PipelineDeps): MeterSet {
  const limits = deps.meterSets.find(ctx.environment, ctx.caller, ctx.endUser, ctx.arrivedAt)
  assertPlanScope(limits.plan, ctx.route.need)
  return limits
}
