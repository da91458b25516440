import { queryOptions } from '@tanstack/react-query'
import { api, type Resource, unwrap } from '../../api/client.ts'
import type { VersionHeader } from '../../controls/use-form.ts'
import { listPlans } from '../limits/rule-calls.ts'
import { listLogs } from '../logs/log-calls.ts'
import { loadUsage } from '../overview/usage-series.ts'

export type EndUser = Resource<'EndUser'>

export const endUsersKey = (envId: string): readonly unknown[] => ['end-users', envId]

export function listEndUsers(
  envId: string,
  { q, blocked }: { readonly q?: string; readonly blocked?: 'true' },
  cursor?: string,
) {
  const query = {
    limit: 50,
    ...(q === undefined ? {} : { q }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  return unwrap(api.GET('/v1/environments/{envId}/end-users', { params: { path: { envId }, query } }))
}

export function getEndUser(id: string) {
  return unwrap(api.GET('/v1/end-users/{id}', { params: { path: { id } } }))
}

export function getEndUserLimits(id: string) {
  return unwrap(api.GET('/v1/end-users/{id}/effective-limits', { params: { path: { id } } }))
}

/** Loads the plans that an end user can have. */
export const planChoicesQuery = (envId: string) =>
  queryOptions({ queryKey: ['plan-choices', envId], queryFn: () => listPlans(envId) })

/** Returns the plan that applies to an end user without one of their own. undefined: there is none. */
export function findDefaultPlan(plans: readonly Resource<'Plan'>[]): Resource<'Plan'> | undefined {
  return plans.find(({ is_default }) => is_default)
}

/** Loads the usage of 30 days by day. `name` is the app's own id of the end user. */
export const usageOfQuery = (envId: string, name: string) =>
  queryOptions({
    queryKey: ['usage-of', envId, name],
    queryFn: async () => {
      const now = Date.now()
      return { now, rows: await loadUsage(envId, '30d', now, { end_user_id: name }) }
    },
  })

const LATEST_REQUESTS = 10

export const latestRequestsQuery = (envId: string, name: string) =>
  queryOptions({
    queryKey: ['logs-of', envId, name],
    queryFn: () => listLogs(envId, { end_user_id: name, limit: String(LATEST_REQUESTS) }),
  })

export function blockEndUser(id: string) {
  return unwrap(api.POST('/v1/end-users/{id}/block', { params: { path: { id } } }))
}

export function unblockEndUser(id: string) {
  return unwrap(api.POST('/v1/end-users/{id}/unblock', { params: { path: { id } } }))
}

/** Gives the end user a plan by its name, or none of their own with null. */
export function changePlan(id: string, plan: string | null, header: VersionHeader) {
  return unwrap(api.PATCH('/v1/end-users/{id}', { params: { path: { id }, header }, body: { plan } }))
}
