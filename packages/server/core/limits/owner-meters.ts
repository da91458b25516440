import type { BudgetPolicy, LimitPolicy, QuotaPolicy } from '../tenancy/policies.ts'
import type { WindowBounds } from '../tenancy/windows.ts'
import type { FixedMeter, Meter, MeterSubject } from './meter.ts'
import type { MeteredCaller } from './policy-scopes.ts'
import { toBudgetMeter, toLimitMeter, toQuotaMeter } from './policy-to-meter.ts'

// The meters of policies that are read without a request: the control plane shows their usage, and alerts are derived from it.

/** The organization, project or environment that a policy belongs to. */
export type PolicyOwner = Pick<MeterSubject, 'orgId' | 'projectId' | 'environmentId'>

/** The meter of a budget in one window. It has the counter of the requests that the budget limits. */
export function createBudgetMeter(
  policy: BudgetPolicy,
  owner: PolicyOwner,
  bounds: WindowBounds,
): FixedMeter {
  const { scope, ref } = policy
  const meter = toBudgetMeter(policy, toCaller(owner, scope, ref), bounds)
  // The ids above the scope are not all known here. They stay null, because the scope's own id identifies its requests.
  const environmentId = scope === 'environment' ? ref : owner.environmentId
  return { ...meter, subject: { ...meter.subject, ...owner, environmentId } }
}

/** The meter of a quota in one window. Not for quotas of every end user, which have a counter for each of them. */
export function createQuotaMeter(policy: QuotaPolicy, owner: PolicyOwner, bounds: WindowBounds): FixedMeter {
  const { scope, ref } = policy
  return toQuotaMeter(policy, toCaller(owner, scope, ref), bounds)
}

/** The meter of a rate or concurrency limit. Not for limits of every end user, which have a counter for each of them. */
export function createLimitMeter(policy: LimitPolicy, owner: PolicyOwner): Meter {
  const { scope, ref } = policy
  const projectId = scope === 'project' ? ref : owner.projectId
  const environmentId = scope === 'environment' ? (ref ?? owner.environmentId) : owner.environmentId
  const meter = toLimitMeter(policy, toCaller({ ...owner, projectId, environmentId }, scope, ref))
  return { ...meter, subject: { ...meter.subject, projectId, environmentId } }
}

/** A caller that the policy applies to. */
function toCaller(
  owner: PolicyOwner,
  scope: BudgetPolicy['scope'] | QuotaPolicy['scope'] | LimitPolicy['scope'],
  ref: string | null,
): MeteredCaller {
  return {
    orgId: owner.orgId,
    projectId: owner.projectId ?? '',
    environmentId: (scope === 'environment' ? ref : null) ?? owner.environmentId ?? '',
    keyId: scope === 'key' ? ref : null,
    endUser: scope === 'end_user' && ref !== null ? { id: ref, plan: null, isBlocked: false } : null,
  }
}
