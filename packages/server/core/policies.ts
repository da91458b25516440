import type { CalendarWindow, Window } from './windows.ts'

/**
 * What limits the requests of an environment: everything that was made for it, its project or its organization and can
 * concern a request of it. Times are Unix milliseconds, money whole nano-dollars.
 */
export interface Policies {
  /** IANA name: the organization's, for calendar windows. */
  readonly timeZone: string
  readonly limits: readonly LimitPolicy[]
  readonly quotas: readonly QuotaPolicy[]
  readonly budgets: readonly BudgetPolicy[]
  readonly plans: readonly PlanPolicy[]
  /** Is any end user blocked, or does any have a plan of its own? Otherwise nobody has to be looked up. */
  readonly hasSpecialEndUsers: boolean
}

interface Policy {
  readonly id: string
  readonly createdAt: number
}

export interface LimitPolicy extends Policy {
  readonly scope: 'org' | 'project' | 'environment' | 'key' | 'end_user' | 'default_end_user'
  /** null: where it was made, or every end user. */
  readonly ref: string | null
  readonly metric: 'requests' | 'tokens' | 'concurrency'
  readonly limit: number
  /** null for concurrency. */
  readonly windowMs: number | null
}

export interface QuotaPolicy extends Policy {
  readonly scope: 'environment' | 'key' | 'end_user' | 'default_end_user'
  readonly ref: string | null
  readonly metric: 'requests' | 'tokens'
  readonly window: CalendarWindow
  readonly limit: number
  readonly gracePct: number
}

export interface BudgetPolicy extends Policy {
  /** null: the organization's. */
  readonly projectId: string | null
  /** null: the whole of the project or organization. */
  readonly scope: 'environment' | 'key' | null
  readonly ref: string | null
  readonly limitNanoUsd: number
  readonly window: Window
  readonly alertPcts: readonly number[]
}

export interface PlanPolicy extends Policy {
  readonly name: string
  readonly isDefault: boolean
  /** null everywhere: no bound of the plan's. */
  readonly allowedModels: readonly string[] | null
  readonly scopes: readonly string[] | null
  readonly requestsPerMinute: number | null
  readonly maxConcurrency: number | null
  readonly tokensPerDay: number | null
  readonly nanoUsdPerMonth: number | null
}

/**
 * The plan that counts for an end user: of this name, else the default one; undefined: none. null: no name was set for
 * it. Requests without an end user have no plan.
 */
export function findPlan(plans: readonly PlanPolicy[], name: string | null): PlanPolicy | undefined {
  if (plans.length === 0) return undefined
  const named = name === null ? undefined : plans.find(plan => plan.name === name)
  return named ?? plans.find(({ isDefault }) => isDefault)
}
