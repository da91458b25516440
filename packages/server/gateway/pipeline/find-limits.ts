import type { MeterSet } from '../../core/list-meters.ts'
import { refuseByPlan } from '../plan/refuse-by-plan.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** What limits the request, once it is known who calls and on whose behalf. Refuses what the end user's plan leaves out. */
export function findLimits(ctx: RequestContext, deps: PipelineDeps): MeterSet {
  const { caller, environment } = ctx
  if (caller === undefined || environment === undefined) throw new Error('limits are of a known caller')
  const limits = deps.meterSets.find(environment, caller, ctx.endUser, ctx.arrivedAt)
  refuseByPlan(limits.plan, ctx.route.need)
  return limits
}
