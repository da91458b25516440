import type { Resource } from '../../api/client.ts'
import { toCount } from '../../format/amounts.ts'
import { toMoney } from '../../format/money.ts'

export type Limit = Resource<'Limit'>
export type Quota = Resource<'Quota'>
export type Budget = Resource<'Budget'>
export type Plan = Resource<'Plan'>
export type RulePreviewInput = Resource<'LimitQuestionInput'>

export type Unit = 'requests' | 'tokens' | 'concurrency' | 'usd'
export type Window = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'total'
export type Scope = 'environment' | 'default_end_user' | 'end_user' | 'key' | 'project' | 'org'

/** A new rule as the user describes it. The unit and the window decide whether the API stores a limit, a quota or a budget. */
export interface RuleDraft {
  readonly amount: number
  readonly unit: Unit
  readonly window: Window
  readonly scope: Scope
  /** The key's id or the end user's name. */
  readonly ref: string
}

/** Returns the windows and scopes that a unit allows, the most usual first. */
export function choicesFor(unit: Unit): { windows: readonly Window[]; scopes: readonly Scope[] } {
  if (unit === 'usd') {
    return { windows: ['month', 'week', 'day', 'total'], scopes: ['project', 'environment', 'key', 'org'] }
  }
  const scopes = ['default_end_user', 'environment', 'key', 'end_user'] as const
  return { windows: unit === 'concurrency' ? [] : ['minute', 'hour', 'day', 'week', 'month'], scopes }
}

/** Returns the preview of a draft, or undefined if it cannot be tried. A window of a minute slides; longer ones follow the calendar. */
export function toPreviewInput({
  amount,
  unit,
  window,
  scope,
  ref,
}: RuleDraft): RulePreviewInput | undefined {
  if (unit !== 'requests' && unit !== 'tokens') return undefined
  if (scope === 'project' || scope === 'org' || window === 'total') return undefined
  const isNamed = scope === 'key' || scope === 'end_user'
  if (isNamed && ref === '') return undefined
  return {
    scope,
    ...(isNamed ? { scope_ref: ref } : {}),
    metric: unit,
    limit: amount,
    ...(window === 'minute' ? { window_seconds: 60 } : { window }),
  }
}

/** A rule as it is stored. */
export type RuleRecord =
  | { readonly kind: 'limit'; readonly stored: Limit }
  | { readonly kind: 'quota'; readonly stored: Quota }
  | { readonly kind: 'budget'; readonly stored: Budget }
export type RuleKind = RuleRecord['kind']

/** Money makes a budget; a window of a minute, concurrency and totals make a limit; everything else is a quota. */
export function kindOf({ unit, window }: Pick<RuleDraft, 'unit' | 'window'>): RuleKind {
  if (unit === 'usd') return 'budget'
  return unit === 'concurrency' || window === 'minute' || window === 'total' ? 'limit' : 'quota'
}

/** A rule of any kind, described in words. */
export interface Rule {
  readonly record: RuleRecord
  readonly id: string
  /** Such as `Each end user`. */
  readonly appliesTo: string
  readonly text: string
  /** The error code of the requests that it refuses. */
  readonly code: string
  readonly amount: number
  readonly used: number | null
  readonly reserved: number
  readonly resetsAt: string | null
  readonly isMoney: boolean
  /** The input of the preview call, or undefined if the rule cannot be tried on past requests. */
  readonly previewInput: RulePreviewInput | undefined
}

/** `nameOf` returns the name of a key or project, and what the page calls an environment: `This environment`. */
export function toRules(
  {
    limits,
    quotas,
    budgets,
  }: { limits: readonly Limit[]; quotas: readonly Quota[]; budgets: readonly Budget[] },
  nameOf: (id: string) => string,
): Rule[] {
  return [
    ...budgets.map(stored => toRule({ kind: 'budget', stored }, nameOf)),
    ...quotas.map(stored => toRule({ kind: 'quota', stored }, nameOf)),
    ...limits.map(stored => toRule({ kind: 'limit', stored }, nameOf)),
  ]
}

export function toRule(record: RuleRecord, nameOf: (id: string) => string): Rule {
  if (record.kind === 'budget') return fromBudget(record.stored, nameOf)
  return record.kind === 'quota' ? fromQuota(record.stored, nameOf) : fromLimit(record.stored, nameOf)
}

function fromBudget(budget: Budget, nameOf: (id: string) => string): Rule {
  const owner = budget.project_id === null ? 'Organization' : `Project ${nameOf(budget.project_id)}`
  const { window } = budget
  return {
    record: { kind: 'budget', stored: budget },
    id: budget.id,
    appliesTo: budget.scope === null ? owner : describeScope(budget.scope, budget.scope_ref, nameOf),
    text: `At most ${toMoney(budget.limit_usd)} ${window === 'total' ? 'in total' : `a ${window}`}`,
    code: 'budget_exceeded',
    amount: budget.limit_usd,
    used: budget.spent_usd,
    reserved: budget.reserved_usd ?? 0,
    resetsAt: budget.resets_at,
    isMoney: true,
    previewInput: undefined,
  }
}

function fromQuota(quota: Quota, nameOf: (id: string) => string): Rule {
  const { scope, scope_ref, metric, window, limit, grace_pct } = quota
  const grace = grace_pct === 0 ? '' : `, ${grace_pct}\u00a0% grace`
  return {
    record: { kind: 'quota', stored: quota },
    id: quota.id,
    appliesTo: describeScope(scope, scope_ref, nameOf),
    text: `At most ${toCount(limit)} ${metric} a ${window}${grace}`,
    code: 'quota_exceeded',
    amount: limit,
    used: quota.used,
    reserved: quota.reserved ?? 0,
    resetsAt: quota.resets_at,
    isMoney: false,
    previewInput: {
      scope,
      ...(scope_ref === null || scope === 'environment' ? {} : { scope_ref }),
      metric,
      limit: Math.floor(limit * (1 + grace_pct / 100)),
      window,
    },
  }
}

function fromLimit(limit: Limit, nameOf: (id: string) => string): Rule {
  const { scope, scope_ref, metric, window_seconds: seconds } = limit
  const isEndUser = scope === 'end_user' || scope === 'default_end_user'
  const code =
    metric === 'concurrency'
      ? 'concurrency_limit_exceeded'
      : isEndUser && metric === 'requests' && seconds === 60
        ? 'end_user_rpm_exceeded'
        : 'rate_limit_exceeded'
  const canPreview =
    metric !== 'concurrency' && scope !== 'org' && scope !== 'project' && limit.environment_id !== null
  return {
    record: { kind: 'limit', stored: limit },
    id: limit.id,
    appliesTo: describeScope(scope, scope_ref, nameOf),
    text: `At most ${toCount(limit.limit)} ${metric === 'concurrency' ? 'requests at once' : `${metric} ${toSpan(seconds ?? 60)}`}`,
    code,
    amount: limit.limit,
    used: null,
    reserved: 0,
    resetsAt: null,
    isMoney: false,
    previewInput: canPreview
      ? {
          scope,
          ...(scope_ref === null || scope === 'environment' ? {} : { scope_ref }),
          metric,
          limit: limit.limit,
          window_seconds: seconds ?? 60,
        }
      : undefined,
  }
}

function describeScope(scope: string, ref: string | null, nameOf: (id: string) => string): string {
  if (scope === 'default_end_user') return 'Each end user'
  if (scope === 'end_user') return `End user ${ref}`
  if (scope === 'key') return `Key ${nameOf(ref ?? '')}`
  if (scope === 'org') return 'Organization'
  if (scope === 'project') return `Project ${nameOf(ref ?? '')}`
  return ref === null ? 'This environment' : nameOf(ref)
}

/** `a minute`, `in 90 seconds`. */
export function toSpan(seconds: number): string {
  const names: Readonly<Record<number, string>> = {
    1: 'a second',
    60: 'a minute',
    3600: 'an hour',
    86400: 'in 24 hours',
  }
  return names[seconds] ?? `in ${toCount(seconds)} seconds`
}

/** Describes in words what a plan allows. */
export function describePlan(plan: Plan): string {
  const parts = [
    ...(plan.requests_per_minute === null ? [] : [`${toCount(plan.requests_per_minute)} requests a minute`]),
    ...(plan.max_concurrency === null ? [] : [`${toCount(plan.max_concurrency)} at once`]),
    ...(plan.tokens_per_day === null ? [] : [`${toCount(plan.tokens_per_day)} tokens a day`]),
    ...(plan.usd_per_month === null ? [] : [`${toMoney(plan.usd_per_month)} a month`]),
  ]
  const models = plan.allowed_models === null ? 'any model' : plan.allowed_models.join(', ')
  return parts.length === 0 ? `No limits; ${models}` : `At most ${parts.join(', ')}; ${models}`
}
