import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { assertPlanScope } from '../targets/assert-plan-scope.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/**
 * Returns the meters that limit the request, once its caller and end user are known. Throws `endpoint_not_allowed` if
 * the end user's plan lacks the route's scope.
 */
export function getMeters(ctx: IdentifiedContext, deps: PipelineDeps): MeterSet {
  const limits = deps.meterSets.getMeters(ctx.environment, ctx.caller, ctx.endUser, ctx.arrivedAt)
  assertPlanScope(limits.plan, ctx.route.need)
  return limits
}
