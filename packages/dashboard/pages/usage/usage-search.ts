import { toDateTime } from '../../format/times.ts'

const DAY_MS = 86_400_000

export const RANGES = {
  month: { label: 'This month', words: 'the current month', days: 31, top: 30 },
  '30d': { label: 'Last 30 days', words: 'the last 30 days', days: 30, top: 30 },
  '90d': { label: 'Last 90 days', words: 'the last 90 days', days: 90, top: 30 },
  '365d': { label: 'Last 12 months', words: 'the last 12 months', days: 365, top: 10 },
} as const
export type Range = keyof typeof RANGES

/** What the rows of the table stand for. `group` is the API's name for it; months are summed in the page. */
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

/** Reads the choices of an address. Invalid ones are left out. */
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

/** Returns whether a range can be grouped so. The API ranks end users only within a month. */
export function isAllowed(range: Range, by: Pivot): boolean {
  return by !== 'end_user' || RANGES[range].days <= 31
}

/** In fewer days, the unfinished today would look like a drop in usage. */
const MIN_COMPARED_DAYS = 7

/**
 * Returns as many whole days before the range, as a time in the first and one in the last of them, or undefined if they are too few
 * to compare.
 */
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

/** Returns a time in each day of the range in the zone, oldest first. The last one is the day of `now`. */
export function listDays(range: Range, now: number, timeZone: string): number[] {
  const [date = '', time = ''] = toDateTime(now, timeZone).split(', ')
  // Noon stays in the same day when the clocks change by an hour.
  const noon = now - (Number(time.slice(0, 2)) - 12) * 3_600_000
  const count = range === 'month' ? Number(date.split(' ')[0]) : RANGES[range].days
  return Array.from({ length: count }, (_, index) => noon - (count - 1 - index) * DAY_MS)
}
