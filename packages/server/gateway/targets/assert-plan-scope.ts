import type { Need } from '../../core/access/authorize.ts'
import { Fault } from '../../core/fault.ts'
import type { PlanPolicy } from '../../core/tenancy/policies.ts'

/** Throws `endpoint_not_allowed` if the end user's plan lacks the scope, whatever its credential allows. */
export function assertPlanScope(plan: PlanPolicy | undefined, need: Need): void {
  if (allowsScope(plan, need)) return
  throw new Fault('endpoint_not_allowed', `The end user's plan lacks the scope ${need.scope}.`)
}

/** Whether the end user's plan has the scope. */
export function allowsScope(plan: PlanPolicy | undefined, { scope }: Need): boolean {
  return plan === undefined || plan.scopes === null || scope === null || plan.scopes.includes(scope)
}
