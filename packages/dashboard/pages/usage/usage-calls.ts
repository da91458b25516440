import { answerOf, api } from '../../api/client.ts'
import type { Place } from '../../api/workspace.ts'
import type { Usage } from './usage-pivot.ts'
import { listDays, type Part, PIVOTS, type Pivot, RANGES, type Range } from './usage-search.ts'

const MOST_ROWS = 10_000

interface Answer {
  data: Usage[]
}

/** All rows by day, with names for the groups that cost most: one call, from which chart, table and file are made. */
export async function loadUsage(
  place: Place,
  part: Part,
  by: Pivot,
  range: Range,
  now: number,
): Promise<Usage[]> {
  const { group } = PIVOTS[by]
  return await loadDays(place, part, listDays(range, now, place.organization.time_zone)[0] ?? now, now, {
    ...(group === undefined ? {} : { group_by: group, top: RANGES[range].top }),
  })
}

/** The project's days from the first of the month or a week ago, whichever is earlier. */
export async function loadRecent(place: Place, now: number): Promise<Usage[]> {
  const [first = now] = listDays('month', now, place.organization.time_zone)
  return await loadDays(place, 'project', Math.min(first, now - 8 * 86_400_000), now, {})
}

async function loadDays(
  { organization, project, environment }: Place,
  part: Part,
  from: number,
  to: number,
  groups: { group_by?: string; top?: number },
): Promise<Usage[]> {
  const query = {
    from: new Date(from).toISOString(),
    to: new Date(Math.max(from, to)).toISOString(),
    granularity: 'day' as const,
    rows: MOST_ROWS,
    ...groups,
  }
  const answer: Answer = await (part === 'environment'
    ? answerOf(
        api.GET('/v1/environments/{envId}/usage', { params: { path: { envId: environment.id }, query } }),
      )
    : part === 'project'
      ? answerOf(
          api.GET('/v1/projects/{projectId}/usage', { params: { path: { projectId: project.id }, query } }),
        )
      : answerOf(api.GET('/v1/orgs/{orgId}/usage', { params: { path: { orgId: organization.id }, query } })))
  return answer.data
}
