import type { CalendarWindow, Window } from './windows.ts'

/**
 * Everything that can limit a request of one environment: the policies of the environment, its project and its
 * organization. Times are Unix milliseconds; money is whole nano-dollars.
 */
export interface Policies {
  /** IANA name of the organization's time zone, in which calendar windows begin and end. */
  readonly timeZone: string
  readonly limits: readonly LimitPolicy[]
  readonly quotas: readonly QuotaPolicy[]
  readonly budgets: readonly BudgetPolicy[]
  readonly plans: readonly PlanPolicy[]
  /** False: no end user is blocked or has a plan of its own, so that end users need no look-up. */
  readonly hasSpecialEndUsers: boolean
}

interface Policy {
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
}

export interface LimitPolicy extends Policy {
  readonly scope: 'org' | 'project' | 'environment' | 'key' | 'end_user' | 'default_end_user'
  /** Id of what is limited. null: the organization, project or environment that owns the policy, or every end user. */
  readonly ref: string | null
  readonly metric: 'requests' | 'tokens' | 'concurrency'
  readonly limit: number
  /** null for concurrency. */
  readonly windowMs: number | null
}

export interface QuotaPolicy extends Policy {
  readonly scope: 'environment' | 'key' | 'end_user' | 'default_end_user'
  /** Id of what is limited. null: the environment that owns the policy, or every end user. */
  readonly ref: string | null
  readonly metric: 'requests' | 'tokens'
  readonly window: CalendarWindow
  readonly limit: number
  /** Requests are refused above limit × (1 + gracePct / 100). */
  readonly gracePct: number
}

/**
 * What a budget does with a request whose explicit maximum of output does not fit what is left: lower the maximum, or
 * refuse the request.
 */
export type OnTight = 'cap' | 'refuse'

export interface BudgetPolicy extends Policy {
  /** null: a budget of the organization. */
  readonly projectId: string | null
  /** null: the whole organization or project. */
  readonly scope: 'environment' | 'key' | null
  readonly ref: string | null
  readonly limitNanoUsd: number
  readonly window: Window
  readonly alertPcts: readonly number[]
  readonly onTight: OnTight
}

/** What an end user may do. A bound that is null is not limited by the plan. */
export interface PlanPolicy extends Policy {
  readonly name: string
  readonly isDefault: boolean
  readonly allowedModels: readonly string[] | null
  readonly scopes: readonly string[] | null
  readonly requestsPerMinute: number | null
  readonly maxConcurrency: number | null
  readonly tokensPerDay: number | null
  readonly nanoUsdPerMonth: number | null
}

/**
 * Returns the plan of an end user: the one of this name, otherwise the default plan, otherwise undefined. A null name means
 * that the end user has no plan of its own. Requests that name no end user have no plan.
 */
export function findPlan(plans: readonly PlanPolicy[], name: string | null): PlanPolicy | undefined {
  if (plans.length === 0) return undefined
  const named = name === null ? undefined : plans.find(plan => plan.name === name)
  return named ?? plans.find(({ isDefault }) => isDefault)
}
