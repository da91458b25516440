import type { ShortTicks } from '../../core/short-ticks.ts'
import type { Policies } from '../../core/tenancy/policies.ts'
import type { BudgetRow, LimitRow, PlanRow, QuotaRow } from '../policy-tables.ts'
import { jsonLines, readLines } from './json-lines.ts'

/** Some columns of a row as JSON. Times are Unix milliseconds. */
type Part<R, K extends keyof R> = Pick<R, K> & BasePart

interface BasePart {
  readonly id: string
  readonly created: number
  readonly updated: number
}

type LimitPart = Part<LimitRow, 'scope' | 'counted_ref' | 'metric' | 'limit' | 'window_seconds'>
type QuotaPart = Part<QuotaRow, 'scope' | 'counted_ref' | 'metric' | 'window' | 'limit' | 'grace_pct'>
type BudgetPart = Part<
  BudgetRow,
  'project_id' | 'scope' | 'counted_ref' | 'limit_nano_usd' | 'window' | 'alert_pcts' | 'on_tight'
>
type PlanPart = Part<
  PlanRow,
  | 'name'
  | 'is_default'
  | 'allowed_models'
  | 'scopes'
  | 'requests_per_minute'
  | 'max_concurrency'
  | 'tokens_per_day'
  | 'nano_usd_per_month'
>

/** The columns that POLICY_PARTS selects. */
export interface PolicyParts {
  readonly time_zone: string
  /** Lines of LimitPart. */
  readonly limits: string | null
  /** Lines of QuotaPart. */
  readonly quotas: string | null
  /** Lines of BudgetPart. */
  readonly budgets: string | null
  /** Lines of PlanPart. */
  readonly plans: string | null
  readonly has_special_end_users: boolean
}

const BASE = (
  row: string,
): string => `'id', ${row}.id, 'created', floor(extract(epoch from ${row}.created_at) * 1000),
  'updated', floor(extract(epoch from ${row}.updated_at) * 1000)`

/** True if the scope of `row` covers environment `e`, its project or organization, or names a key of it. */
const CAN_CONCERN = (row: string): string => `(${row}.scope is null or ${row}.scope = 'org'
  or ${row}.scope = 'project' and ${row}.scope_ref::text = e.project_id::text
  or ${row}.scope = 'environment' and ${row}.scope_ref::text = e.id::text
  or ${row}.scope = 'key' and exists (
    select from keys k where k.environment_id = e.id and k.id::text = ${row}.scope_ref::text))`

const LIMIT = `jsonb_build_object(${BASE('l')}, 'scope', l.scope, 'counted_ref', l.counted_ref, 'metric', l.metric,
    'limit', l.limit, 'window_seconds', l.window_seconds)`
const QUOTA = `jsonb_build_object(${BASE('q')}, 'scope', q.scope, 'counted_ref', q.counted_ref, 'metric', q.metric,
    'window', q.window, 'limit', q.limit, 'grace_pct', q.grace_pct)`
const BUDGET = `jsonb_build_object(${BASE('b')}, 'project_id', b.project_id, 'scope', b.scope, 'counted_ref', b.counted_ref,
    'limit_nano_usd', b.limit_nano_usd, 'window', b.window, 'alert_pcts', b.alert_pcts, 'on_tight', b.on_tight)`
const PLAN = `jsonb_build_object(${BASE('n')}, 'name', n.name, 'is_default', n.is_default,
    'allowed_models', n.allowed_models, 'scopes', n.scopes, 'requests_per_minute', n.requests_per_minute,
    'max_concurrency', n.max_concurrency, 'tokens_per_day', n.tokens_per_day, 'nano_usd_per_month', n.nano_usd_per_month)`

/**
 * True if an end user `u` meets the condition, which an index in this order must have. Without an order the planner would rather read all
 * end users of all tenants: where it expects many that meet it, it expects the first of them soon, also where there is none.
 */
const ANY_END_USER = (condition: string): string =>
  `(select true from end_users u where ${condition} order by u.created_at desc, u.id desc limit 1) is not null`

/** SQL: an environment's policies, for the select list of a statement over `environments e` and `organizations o`. */
export const POLICY_PARTS = `o.time_zone,
  (select ${jsonLines(LIMIT, 'l.created_at, l.id')} from limits l where l.environment_id = e.id
    or l.org_id = e.org_id and l.environment_id is null and ${CAN_CONCERN('l')}) as limits,
  (select ${jsonLines(QUOTA, 'q.created_at, q.id')} from quotas q where q.environment_id = e.id) as quotas,
  (select ${jsonLines(BUDGET, 'b.created_at, b.id')} from budgets b
    where b.org_id = e.org_id and (b.project_id is null or b.project_id = e.project_id) and ${CAN_CONCERN('b')}) as budgets,
  (select ${jsonLines(PLAN, 'n.created_at, n.id')} from plans n where n.environment_id = e.id and n.deleted_at is null) as plans,
  exists (select from plans n where n.environment_id = e.id and n.deleted_at is null and ${ANY_END_USER('u.plan_id = n.id')})
    or ${ANY_END_USER('u.environment_id = e.id and u.blocked_at is not null')} as has_special_end_users`

/** Turns the selected columns into the domain's policies, oldest first of each kind. */
export async function toPolicies(parts: PolicyParts, ticks: ShortTicks): Promise<Policies> {
  return {
    timeZone: parts.time_zone,
    limits: await readLines(parts.limits, ticks, (part: LimitPart) => ({
      ...toBase(part),
      scope: part.scope,
      ref: part.counted_ref,
      metric: part.metric,
      limit: part.limit,
      windowMs: part.window_seconds === null ? null : part.window_seconds * 1000,
    })),
    quotas: await readLines(parts.quotas, ticks, (part: QuotaPart) => ({
      ...toBase(part),
      scope: part.scope,
      ref: part.counted_ref,
      metric: part.metric,
      window: part.window,
      limit: part.limit,
      gracePct: part.grace_pct,
    })),
    budgets: await readLines(parts.budgets, ticks, (part: BudgetPart) => ({
      ...toBase(part),
      projectId: part.project_id,
      scope: part.scope,
      ref: part.counted_ref,
      limitNanoUsd: part.limit_nano_usd,
      window: part.window,
      alertPcts: part.alert_pcts,
      onTight: part.on_tight,
    })),
    plans: await readLines(parts.plans, ticks, (part: PlanPart) => ({
      ...toBase(part),
      name: part.name,
      isDefault: part.is_default,
      allowedModels: part.allowed_models,
      scopes: part.scopes,
      requestsPerMinute: part.requests_per_minute,
      maxConcurrency: part.max_concurrency,
      tokensPerDay: part.tokens_per_day,
      nanoUsdPerMonth: part.nano_usd_per_month,
    })),
    hasSpecialEndUsers: parts.has_special_end_users,
  }
}

function toBase({ id, created, updated }: BasePart) {
  return { id, createdAt: created, updatedAt: updated }
}
