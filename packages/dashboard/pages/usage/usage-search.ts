import { toDateTime } from '../../format/times.ts'

const DAY_MS = 86_400_000

export const RANGES = {
  month: { label: 'This month', words: 'this month', days: 31, top: 30 },
  '30d': { label: 'Last 30 days', words: '30 days', days: 30, top: 30 },
  '90d': { label: 'Last 90 days', words: '90 days', days: 90, top: 30 },
  '365d': { label: 'Last 12 months', words: '12 months', days: 365, top: 10 },
} as const
export type Range = keyof typeof RANGES

/** What a row of the table is. `group`: its name in the API; months are summed in the page. */
export const PIVOTS = {
  model: { label: 'Model', group: 'model' },
  key: { label: 'Key', group: 'key' },
  end_user: { label: 'End user', group: 'end_user' },
  project: { label: 'Project', group: 'project' },
  month: { label: 'Month', group: undefined },
} as const
export type Pivot = keyof typeof PIVOTS

export const USAGE_SCOPES = {
  environment: 'This environment',
  project: 'Whole project',
  organization: 'Organization',
} as const
export type UsageScope = keyof typeof USAGE_SCOPES

export const MEASURES = { cost: 'Cost', requests: 'Requests', tokens: 'Tokens' } as const
export type Measure = keyof typeof MEASURES

export interface UsageSearch {
  readonly range?: Range
  readonly by?: Pivot
  readonly of?: UsageScope
  readonly show?: Measure
}

/** Reads an address. What is no choice is left out. */
export function parseUsageSearch(search: Record<string, unknown>): UsageSearch {
  return {
    ...pick('range', RANGES, search),
    ...pick('by', PIVOTS, search),
    ...pick('of', USAGE_SCOPES, search),
    ...pick('show', MEASURES, search),
  }
}

function pick<Name extends string, Choices extends object>(
  name: Name,
  choices: Choices,
  search: Record<string, unknown>,
): { [Key in Name]?: keyof Choices } {
  const value = search[name]
  const isChoice = typeof value === 'string' && Object.hasOwn(choices, value)
  return (isChoice ? { [name]: value } : {}) as { [Key in Name]?: keyof Choices }
}

/** The API ranks end users within a month only. */
export function isAllowed(range: Range, by: Pivot): boolean {
  return by !== 'end_user' || RANGES[range].days <= 31
}

/** Today is not over. In fewer days than these, that would variant like a change of use. */
const MIN_COMPARED_DAYS = 7

/** As many whole days before the first day of the range, by a time in the first and the last one. undefined: too few to compare. */
export function toEarlier(
  range: Range,
  now: number,
  timeZone: string,
): { readonly from: number; readonly to: number; readonly days: number } | undefined {
  const [first = now, ...others] = listDays(range, now, timeZone)
  const days = others.length + 1
  if (days < MIN_COMPARED_DAYS) return undefined
  return { from: first - days * DAY_MS, to: first - DAY_MS, days }
}

/** A time of each day of the range in the zone, oldest first; the last one is `now`'s day. */
export function listDays(range: Range, now: number, timeZone: string): number[] {
  const [date = '', time = ''] = toDateTime(now, timeZone).split(', ')
  // From noon, an hour of change leaves one in the same day.
  const noon = now - (Number(time.slice(0, 2)) - 12) * 3_600_000
  const count = range === 'month' ? Number(date.split(' ')[0]) : RANGES[range].days
  return Array.from({ length: count }, (_, index) => noon - (count - 1 - index) * DAY_MS)
}
