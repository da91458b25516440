import { api, unwrap } from '../../api/client.ts'
import { loadAll } from '../../api/use-list.ts'
import type { ProjectEnvironment } from '../../api/workspace.ts'
import type { VersionHeader } from '../../controls/use-form.ts'
import { readBudgetDetails, readGrace } from './rule-details.tsx'
import type { RuleDraft, RulePreviewInput, RuleRecord } from './rules.ts'

export const rulesKey = (envId: string): readonly unknown[] => ['rules', envId]
export const plansKey = (envId: string): readonly unknown[] => ['plans', envId]

/** Loads every rule that can refuse a request of the environment, in one round of calls unless a list has several pages. */
export async function loadRules({ organization, project, environment }: ProjectEnvironment) {
  const query = (cursor: string | undefined) =>
    cursor === undefined ? { limit: 100 } : { limit: 100, cursor }
  const inEnvironment = (cursor: string | undefined) => ({
    params: { path: { envId: environment.id }, query: query(cursor) },
  })
  const inOrganization = (cursor: string | undefined) => ({
    params: { path: { orgId: organization.id }, query: query(cursor) },
  })
  const inProject = (cursor: string | undefined) => ({
    params: { path: { projectId: project.id }, query: query(cursor) },
  })
  const [own, above, quotas, budgets, budgetsAbove] = await Promise.all([
    loadAll(cursor => unwrap(api.GET('/v1/environments/{envId}/limits', inEnvironment(cursor)))),
    loadAll(cursor => unwrap(api.GET('/v1/orgs/{orgId}/limits', inOrganization(cursor)))),
    loadAll(cursor => unwrap(api.GET('/v1/environments/{envId}/quotas', inEnvironment(cursor)))),
    loadAll(cursor => unwrap(api.GET('/v1/projects/{projectId}/budgets', inProject(cursor)))),
    loadAll(cursor => unwrap(api.GET('/v1/orgs/{orgId}/budgets', inOrganization(cursor)))),
  ])
  return {
    limits: [...above.data, ...own.data],
    quotas: quotas.data,
    budgets: [...budgetsAbove.data, ...budgets.data],
    isTruncated: [own, above, quotas, budgets, budgetsAbove].some(list => list.isTruncated),
  }
}

export function listPlans(envId: string, cursor?: string) {
  const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor }
  return unwrap(api.GET('/v1/environments/{envId}/plans', { params: { path: { envId }, query } }))
}

export function getPlan(id: string) {
  return unwrap(api.GET('/v1/plans/{id}', { params: { path: { id } } }))
}

export function previewRule(envId: string, body: RulePreviewInput) {
  return unwrap(api.POST('/v1/environments/{envId}/limits/preview', { params: { path: { envId } }, body }))
}

/** Stores the draft as a limit, quota or budget. `data` has the fields of RuleDetails. */
export async function createRule(
  { organization, project, environment }: ProjectEnvironment,
  draft: RuleDraft,
  data: FormData,
): Promise<void> {
  const { amount, unit, window, scope, ref } = draft
  const isNamed = scope === 'key' || scope === 'end_user'
  if (unit === 'usd') {
    const body = {
      limit_usd: amount,
      window: window === 'minute' || window === 'hour' ? ('day' as const) : window,
      ...readBudgetDetails(data),
      ...(scope === 'environment' || scope === 'key'
        ? { scope, scope_ref: scope === 'key' ? ref : environment.id }
        : {}),
    }
    await unwrap(
      scope === 'org'
        ? api.POST('/v1/orgs/{orgId}/budgets', { params: { path: { orgId: organization.id } }, body })
        : api.POST('/v1/projects/{projectId}/budgets', { params: { path: { projectId: project.id } }, body }),
    )
    return
  }
  const countedScope = scope === 'org' || scope === 'project' ? ('environment' as const) : scope
  const bound = { scope: countedScope, ...(isNamed ? { scope_ref: ref } : {}), limit: amount }
  const params = { path: { envId: environment.id } }
  if (unit === 'concurrency' || window === 'minute' || window === 'total') {
    const body = { ...bound, metric: unit, ...(unit === 'concurrency' ? {} : { window_seconds: 60 }) }
    await unwrap(api.POST('/v1/environments/{envId}/limits', { params, body }))
    return
  }
  const body = { ...bound, metric: unit, window, ...readGrace(data) }
  await unwrap(api.POST('/v1/environments/{envId}/quotas', { params, body }))
}

export async function changeRule(
  { kind, stored: { id } }: RuleRecord,
  amount: number,
  data: FormData,
  header: VersionHeader,
): Promise<void> {
  const params = { path: { id }, header }
  if (kind === 'budget') {
    const body = { limit_usd: amount, ...readBudgetDetails(data) }
    await unwrap(api.PATCH('/v1/budgets/{id}', { params, body }))
  } else if (kind === 'quota') {
    await unwrap(api.PATCH('/v1/quotas/{id}', { params, body: { limit: amount, ...readGrace(data) } }))
  } else await unwrap(api.PATCH('/v1/limits/{id}', { params, body: { limit: amount } }))
}

export async function removeRule({ kind, stored: { id } }: RuleRecord): Promise<void> {
  const params = { path: { id } }
  if (kind === 'budget') await unwrap(api.DELETE('/v1/budgets/{id}', { params }))
  else if (kind === 'quota') await unwrap(api.DELETE('/v1/quotas/{id}', { params }))
  else await unwrap(api.DELETE('/v1/limits/{id}', { params }))
}

/** Reads a rule again from its list, because the API has no route for a single rule. Throws if it no longer exists. */
export async function readRule(current: ProjectEnvironment, { kind, stored: { id } }: RuleRecord) {
  const { budgets, quotas, limits } = await loadRules(current)
  const all = kind === 'budget' ? budgets : kind === 'quota' ? quotas : limits
  const found = all.find(item => item.id === id)
  if (found === undefined) throw new Error('It no longer exists.')
  return found
}
