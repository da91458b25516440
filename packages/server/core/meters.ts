import type { FaultCode } from './fault-table.ts'
import type { Meter, MeterSource, MeterSubject, SpanMeter } from './meter.ts'
import {
  type BudgetPolicy,
  findPlan,
  type LimitPolicy,
  type PlanPolicy,
  type Policies,
  type QuotaPolicy,
} from './policies.ts'
import type { EndUser } from './tenancy.ts'
import { type Span, spanAt, type Window } from './windows.ts'

/** Who makes a request, as far as meters tell callers apart. */
export interface Metered {
  readonly orgId: string
  readonly projectId: string
  readonly environmentId: string
  /** null: a member's own token, which no key minted. */
  readonly keyId: string | null
  /** null: the request names none. */
  readonly endUser: EndUser | null
}

/** The meters of a caller's requests, as long as its policies are these. */
export interface MeterSet {
  readonly meters: readonly Meter[]
  /** Those of a request that only the sandbox may answer: without an organization's real spend. */
  readonly sandboxMeters: readonly Meter[]
  /** Does a limit of money concern the caller? Then an unknown price is refused. */
  readonly hasMoney: boolean
  /** Of tokens or money: what a request uses has to be known before it is called. */
  readonly hasAmounts: boolean
  readonly subject: MeterSubject
  readonly plan: PlanPolicy | undefined
  /** Unix milliseconds: the calendar windows are right from the one up to but not with the other. */
  readonly from: number
  readonly until: number
}

const MINUTE_MS = 60_000

/** Every limit, quota, budget and bound of a plan that concerns a caller, at an instant. Source: contract.md §4. */
export function listMeters(policies: Policies, caller: Metered, at: number): MeterSet {
  const spans = new Spans(policies.timeZone, at)
  const own = caller.endUser
  const plan = own === null ? undefined : findPlan(policies.plans, own.plan)
  const meters: Meter[] = [
    ...chosen(policies.limits, caller).map(limit => toLimitMeter(limit, caller)),
    ...chosen(policies.quotas, caller).map(quota => toQuotaMeter(quota, caller, spans)),
    ...policies.budgets.filter(isFor(caller)).map(budget => toBudgetMeter(budget, caller, spans)),
    ...(plan === undefined || own === null ? [] : listPlanMeters(plan, own, caller, spans)),
  ]
  const hasMoney = meters.some(({ metric }) => metric === 'nano_usd')
  return {
    meters,
    sandboxMeters: meters.filter(({ subject }) => !subject.isRealOnly),
    hasMoney,
    hasAmounts: hasMoney || meters.some(({ metric }) => metric === 'tokens'),
    subject: { ...below(caller), keyId: caller.keyId, endUserId: own?.id ?? null },
    plan,
    from: spans.from,
    until: spans.until,
  }
}

/** Calendar windows at one instant, each found once, and how long all of them last. */
class Spans {
  readonly #timeZone: string
  readonly #at: number
  readonly #found = new Map<Window, Span>()
  from = Number.NEGATIVE_INFINITY
  until = Number.POSITIVE_INFINITY

  constructor(timeZone: string, at: number) {
    this.#timeZone = timeZone
    this.#at = at
  }

  find(window: Window, createdAt: number): Span {
    if (window === 'total') return spanAt(window, this.#at, this.#timeZone, createdAt)
    let span = this.#found.get(window)
    if (span === undefined) {
      span = spanAt(window, this.#at, this.#timeZone, createdAt)
      this.#found.set(window, span)
      this.from = Math.max(this.from, span.start)
      this.until = Math.min(this.until, span.end ?? this.until)
    }
    return span
  }
}

interface Scoped {
  readonly scope: LimitPolicy['scope']
  readonly ref: string | null
  readonly metric: LimitPolicy['metric']
}

/** Those that concern the caller: `default_end_user` where the end user has none of its own of that metric. */
function chosen<P extends Scoped>(policies: readonly P[], caller: Metered): P[] {
  const user = caller.endUser?.id
  const isOwn = ({ scope, ref }: P): boolean => user !== undefined && scope === 'end_user' && ref === user
  return policies.filter(policy => {
    const { scope, ref } = policy
    if (scope === 'end_user') return isOwn(policy)
    if (scope === 'default_end_user') {
      return user !== undefined && !policies.some(each => isOwn(each) && each.metric === policy.metric)
    }
    return ref === null || ref === idOf(scope, caller)
  })
}

function isFor(caller: Metered): (budget: BudgetPolicy) => boolean {
  return ({ projectId, scope, ref }) =>
    (projectId === null || projectId === caller.projectId) && (scope === null || ref === idOf(scope, caller))
}

function idOf(scope: 'org' | 'project' | 'environment' | 'key', caller: Metered): string | null {
  if (scope === 'org') return caller.orgId
  if (scope === 'project') return caller.projectId
  return scope === 'environment' ? caller.environmentId : caller.keyId
}

function toLimitMeter(policy: LimitPolicy, caller: Metered): Meter {
  const { id, metric, limit, windowMs, createdAt } = policy
  const { subject, scope, ref } = aim(policy.scope, caller)
  const isUser = scope === 'end_user'
  const code = codeOfLimit(metric, isUser, windowMs)
  const source: MeterSource = { kind: 'limit', id, scope, ref, code }
  const base = { subject, source, limit, nominalLimit: limit, alertAt: [], since: createdAt }
  if (metric === 'concurrency' || windowMs === null) {
    return { ...base, key: `l:${id}:${ref}`, kind: 'concurrency', metric: 'in_flight' }
  }
  return { ...base, key: `l:${id}:${metric}:${windowMs}:${ref}`, kind: 'rolling', metric, windowMs }
}

function codeOfLimit(metric: LimitPolicy['metric'], isUser: boolean, windowMs: number | null): FaultCode {
  if (metric === 'concurrency') return 'concurrency_limit_exceeded'
  return metric === 'requests' && isUser && windowMs === MINUTE_MS
    ? 'end_user_rpm_exceeded'
    : 'rate_limit_exceeded'
}

/** What of an organization a policy counts: for who asks how it stands, without being a caller. */
export type Whole = Pick<MeterSubject, 'orgId' | 'projectId' | 'environmentId'>

export function toBudgetMeterOf(policy: BudgetPolicy, whole: Whole, timeZone: string, at: number): Meter {
  const named = { environment: policy.ref, key: policy.ref }
  const caller = toMetered(whole, policy.scope === null ? {} : { [policy.scope]: named[policy.scope] })
  const meter = toBudgetMeter(policy, caller, new Spans(timeZone, at))
  return { ...meter, subject: { ...meter.subject, ...toSubject(whole, policy.scope, policy.ref) } }
}

/** Of a quota that is not each end user's own. */
export function toQuotaMeterOf(policy: QuotaPolicy, whole: Whole, timeZone: string, at: number): Meter {
  const caller = toMetered(whole, { [policy.scope]: policy.ref })
  return toQuotaMeter(policy, caller, new Spans(timeZone, at))
}

function toMetered(
  whole: Whole,
  named: { environment?: string | null; key?: string | null; end_user?: string | null },
): Metered {
  const { environment, key = null, end_user: endUser } = named
  return {
    orgId: whole.orgId,
    projectId: whole.projectId ?? '',
    environmentId: environment ?? whole.environmentId ?? '',
    keyId: key,
    endUser: endUser == null ? null : { id: endUser, plan: null, isBlocked: false },
  }
}

/** What is not known of a part stays open: an id names its part alone. */
function toSubject(whole: Whole, scope: BudgetPolicy['scope'], ref: string | null): Whole {
  return { ...whole, environmentId: scope === 'environment' ? ref : whole.environmentId }
}

function toQuotaMeter(policy: QuotaPolicy, caller: Metered, spans: Spans): Meter {
  const { id, metric, window, limit, gracePct } = policy
  const { subject, scope, ref } = aim(policy.scope, caller)
  // The product of a limit and a percentage may be a hair below the whole number that it is.
  const withGrace = Math.floor(limit + (limit * gracePct) / 100 + 1e-6)
  return toSpanMeter(`q:${id}:${metric}:${window}:${ref}`, spans.find(window, policy.createdAt), {
    metric,
    subject,
    source: { kind: 'quota', id, scope, ref, code: 'quota_exceeded' },
    limit: Math.min(withGrace, Number.MAX_SAFE_INTEGER),
    nominalLimit: limit,
    // In its grace it passes and says so.
    alertAt: withGrace > limit ? [limit + 1] : [],
  })
}

function toBudgetMeter(policy: BudgetPolicy, caller: Metered, spans: Spans): Meter {
  const { id, projectId, window, limitNanoUsd: limit, alertPcts } = policy
  const whole = projectId === null ? 'org' : 'project'
  const { subject, scope, ref } = aim(policy.scope ?? whole, caller)
  return toSpanMeter(`b:${id}:${window}:${ref}`, spans.find(window, policy.createdAt), {
    metric: 'nano_usd',
    // The sandbox's fictitious prices try out the budgets of a project; they are no spend of the organization.
    subject: { ...subject, isRealOnly: scope === 'org' },
    source: { kind: 'budget', id, scope, ref, code: 'budget_exceeded' },
    limit,
    nominalLimit: limit,
    alertAt: alertPcts.map(pct => Math.ceil((limit / 100) * pct)).filter(amount => amount > 0),
  })
}

/** A plan's bounds are each end user's. Their counters outlive a change of plan: what was used stays used. */
function listPlanMeters(plan: PlanPolicy, endUser: EndUser, caller: Metered, spans: Spans): Meter[] {
  const { subject } = aim('end_user', caller)
  const name = `p:${caller.environmentId}:${endUser.id}`
  const { createdAt: since } = plan
  const base = (limit: number, code: FaultCode) => ({
    subject,
    source: { kind: 'plan', id: plan.id, scope: 'end_user', ref: endUser.id, code } as const,
    limit,
    nominalLimit: limit,
    alertAt: [],
  })
  const { requestsPerMinute, maxConcurrency, tokensPerDay, nanoUsdPerMonth } = plan
  const meters: Meter[] = []
  if (requestsPerMinute !== null) {
    const rate = { kind: 'rolling', metric: 'requests', windowMs: MINUTE_MS } as const
    meters.push({ ...base(requestsPerMinute, 'end_user_rpm_exceeded'), ...rate, since, key: `${name}:rpm` })
  }
  if (maxConcurrency !== null) {
    const slots = { kind: 'concurrency', metric: 'in_flight' } as const
    meters.push({
      ...base(maxConcurrency, 'concurrency_limit_exceeded'),
      ...slots,
      since,
      key: `${name}:slots`,
    })
  }
  if (tokensPerDay !== null) {
    const day = { ...base(tokensPerDay, 'quota_exceeded'), metric: 'tokens' } as const
    meters.push(toSpanMeter(`${name}:tokens`, spans.find('day', since), day))
  }
  if (nanoUsdPerMonth !== null) {
    const month = { ...base(nanoUsdPerMonth, 'budget_exceeded'), metric: 'nano_usd' } as const
    meters.push(toSpanMeter(`${name}:usd`, spans.find('month', since), month))
  }
  return meters
}

function toSpanMeter(
  series: string,
  { start, end }: Span,
  rest: Omit<SpanMeter, 'key' | 'series' | 'kind' | 'since' | 'end'>,
): SpanMeter {
  return { ...rest, kind: 'span', series, key: `${series}@${start}`, since: start, end }
}

interface Aim {
  readonly subject: MeterSubject
  readonly scope: MeterSource['scope']
  readonly ref: string
}

/** Whose requests a scope counts, of those of this caller. */
function aim(scope: LimitPolicy['scope'], caller: Metered): Aim {
  if (scope === 'end_user' || scope === 'default_end_user') {
    const ref = caller.endUser?.id ?? ''
    return { subject: { ...below(caller), endUserId: ref }, scope: 'end_user', ref }
  }
  const all = below(caller)
  const ref = idOf(scope, caller) ?? ''
  if (scope === 'key') return { subject: { ...all, keyId: ref }, scope, ref }
  if (scope === 'environment') return { subject: all, scope, ref }
  if (scope === 'project') return { subject: { ...all, environmentId: null }, scope, ref }
  return { subject: { ...all, projectId: null, environmentId: null }, scope, ref }
}

function below({ orgId, projectId, environmentId }: Metered): MeterSubject {
  return { orgId, projectId, environmentId, keyId: null, endUserId: null, isRealOnly: false }
}
