import type { Need } from '../../core/access/authorize.ts'
import { Fault } from '../../core/fault.ts'
import type { PlanPolicy } from '../../core/tenancy/policies.ts'

/** Throws `endpoint_not_allowed` if the end user's plan lacks the scope, whatever its credential allows. */
export function assertPlanScope(plan: PlanPolicy | undefined, { scope }: Need): void {
  if (plan === undefined || plan.scopes === null || scope === null || plan.scopes.includes(scope)) return
  throw new Fault('endpoint_not_allowed', `The end user's plan lacks the scope ${scope}.`)
}
