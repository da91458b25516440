import { api, unwrap } from '../../api/client.ts'
import type { ProjectEnvironment } from '../../api/workspace.ts'
import { type Sums, sumAll, toSums, type Usage } from './usage-pivot.ts'
import {
  listDays,
  PIVOTS,
  type Pivot,
  RANGES,
  type Range,
  toEarlier,
  type UsageScope,
} from './usage-search.ts'

const MAX_ROWS = 10_000

interface Answer {
  data: Usage[]
}

/** Loads the usage by day and group, with the groups that cost most by name. The chart, the table and the file are made from this call. */
export async function loadUsage(
  current: ProjectEnvironment,
  scope: UsageScope,
  by: Pivot,
  range: Range,
  now: number,
): Promise<Usage[]> {
  const { group } = PIVOTS[by]
  return await loadDays(current, scope, listDays(range, now, current.organization.time_zone)[0] ?? now, now, {
    ...(group === undefined ? {} : { group_by: group, top: RANGES[range].top }),
  })
}

/** The usage of the days before the range. */
export interface EarlierUsage extends Sums {
  readonly days: number
}

/** Loads the usage of as many days before the range, without the sandbox. Returns undefined if there was none or the range is too short. */
export async function loadEarlier(
  current: ProjectEnvironment,
  scope: UsageScope,
  range: Range,
  now: number,
): Promise<EarlierUsage | undefined> {
  const earlier = toEarlier(range, now, current.organization.time_zone)
  if (earlier === undefined) return undefined
  const rows = await loadDays(current, scope, earlier.from, earlier.to, { granularity: 'total' })
  const sums = sumAll(rows.filter(({ sandbox }) => !sandbox).map(toSums))
  return sums.requests === 0 ? undefined : { ...sums, days: earlier.days }
}

/** Loads the project's usage since the first of the month or a week ago, whichever is earlier. */
export async function loadRecent(current: ProjectEnvironment, now: number): Promise<Usage[]> {
  const [first = now] = listDays('month', now, current.organization.time_zone)
  return await loadDays(current, 'project', Math.min(first, now - 8 * 86_400_000), now, {})
}

async function loadDays(
  { organization, project, environment }: ProjectEnvironment,
  scope: UsageScope,
  from: number,
  to: number,
  others: { group_by?: string; top?: number; granularity?: 'total' },
): Promise<Usage[]> {
  const query = {
    from: new Date(from).toISOString(),
    to: new Date(Math.max(from, to)).toISOString(),
    granularity: 'day' as const,
    rows: MAX_ROWS,
    ...others,
  }
  const answer: Answer = await (scope === 'environment'
    ? unwrap(
        api.GET('/v1/environments/{envId}/usage', { params: { path: { envId: environment.id }, query } }),
      )
    : scope === 'project'
      ? unwrap(
          api.GET('/v1/projects/{projectId}/usage', { params: { path: { projectId: project.id }, query } }),
        )
      : unwrap(api.GET('/v1/orgs/{orgId}/usage', { params: { path: { orgId: organization.id }, query } })))
  return answer.data
}
