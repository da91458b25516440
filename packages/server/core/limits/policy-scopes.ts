import type { BudgetPolicy, LimitPolicy } from '../tenancy/policies.ts'
import type { EndUser } from '../tenancy/tenancy.ts'
import type { MeterSource, MeterSubject } from './meter.ts'

/** Who sends a request: everything that policies distinguish callers by. */
export interface MeteredCaller {
  readonly orgId: string
  readonly projectId: string
  readonly environmentId: string
  /** The original of its key (Key.originalId). null: the dashboard's token of a member, which belongs to no key. */
  readonly keyId: string | null
  /** null: the request names no end user. */
  readonly endUser: EndUser | null
}

interface ScopedPolicy {
  readonly scope: LimitPolicy['scope']
  readonly ref: string | null
  readonly metric: LimitPolicy['metric']
}

interface IndexedPolicy<P> {
  readonly policy: P
  /** The position in its list. */
  readonly index: number
}

/**
 * Policies by the id that they name, so that a caller's are found without reading those of a hundred thousand keys and end
 * users. Lists of policies never change, so each is grouped once.
 */
class PoliciesByRef {
  readonly #groups = new WeakMap<object, Map<string | null, IndexedPolicy<unknown>[]>>()

  /** Returns the policies that name nothing or something that the caller belongs to, in the order of the list. */
  listNamed<P extends { readonly ref: string | null }>(policies: readonly P[], caller: MeteredCaller): P[] {
    const { orgId, projectId, environmentId, keyId, endUser } = caller
    const refs = new Set([null, orgId, projectId, environmentId, keyId, endUser?.id ?? null])
    const groups = this.#getGroups(policies)
    const found: IndexedPolicy<P>[] = []
    for (const ref of refs) for (const entry of groups.get(ref) ?? []) found.push(entry)
    return found.sort((a, b) => a.index - b.index).map(({ policy }) => policy)
  }

  #getGroups<P extends { readonly ref: string | null }>(
    policies: readonly P[],
  ): Map<string | null, IndexedPolicy<P>[]> {
    const known = this.#groups.get(policies)
    if (known !== undefined) return known as Map<string | null, IndexedPolicy<P>[]>
    const groups = new Map<string | null, IndexedPolicy<P>[]>()
    for (const [index, policy] of policies.entries()) {
      const group = groups.get(policy.ref)
      if (group === undefined) groups.set(policy.ref, [{ policy, index }])
      else group.push({ policy, index })
    }
    this.#groups.set(policies, groups)
    return groups
  }
}

const policiesByRef = new PoliciesByRef()

/**
 * Returns the limits or quotas that apply to a caller. A policy of scope `default_end_user` applies to an end user that has
 * no policy of its own for the same metric.
 */
export function selectScoped<P extends ScopedPolicy>(policies: readonly P[], caller: MeteredCaller): P[] {
  const user = caller.endUser?.id
  const named = policiesByRef.listNamed(policies, caller)
  const own = named.filter(({ scope, ref }) => user !== undefined && scope === 'end_user' && ref === user)
  const ownMetrics = new Set(own.map(({ metric }) => metric))
  return named.filter(policy => {
    const { scope, ref, metric } = policy
    if (scope === 'end_user') return user !== undefined && ref === user
    if (scope === 'default_end_user') return user !== undefined && !ownMetrics.has(metric)
    return ref === null || ref === idOf(scope, caller)
  })
}

/** Returns the budgets that apply to a caller: its organization's and its project's, where their scope includes it. */
export function selectBudgets(budgets: readonly BudgetPolicy[], caller: MeteredCaller): BudgetPolicy[] {
  return policiesByRef
    .listNamed(budgets, caller)
    .filter(
      ({ projectId, scope, ref }) =>
        (projectId === null || projectId === caller.projectId) &&
        (scope === null || ref === idOf(scope, caller)),
    )
}

/** Whose requests a policy counts, for one caller. */
export interface MeteredScope {
  readonly subject: MeterSubject
  readonly scope: MeterSource['scope']
  readonly ref: string
}

/** Returns whose requests a policy of this scope counts, for the requests of this caller. */
export function resolveScope(scope: LimitPolicy['scope'], caller: MeteredCaller): MeteredScope {
  const subject = subjectOf(caller)
  if (scope === 'end_user' || scope === 'default_end_user') {
    const ref = caller.endUser?.id ?? ''
    return { subject: { ...subject, endUserId: ref }, scope: 'end_user', ref }
  }
  const ref = idOf(scope, caller) ?? ''
  if (scope === 'key') return { subject: { ...subject, keyId: ref }, scope, ref }
  if (scope === 'environment') return { subject, scope, ref }
  if (scope === 'project') return { subject: { ...subject, environmentId: null }, scope, ref }
  return { subject: { ...subject, projectId: null, environmentId: null }, scope, ref }
}

/** Returns the subject that matches every request in the caller's environment. */
export function subjectOf({ orgId, projectId, environmentId }: MeteredCaller): MeterSubject {
  return { orgId, projectId, environmentId, keyId: null, endUserId: null, excludesSandbox: false }
}

function idOf(scope: 'org' | 'project' | 'environment' | 'key', caller: MeteredCaller): string | null {
  if (scope === 'org') return caller.orgId
  if (scope === 'project') return caller.projectId
  return scope === 'environment' ? caller.environmentId : caller.keyId
}
