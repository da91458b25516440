import type { Resource } from '../../api/client.ts'
import { toDateTime, toDay } from '../../format/times.ts'
import type { Measure, Pivot } from './usage-search.ts'

export type Usage = Resource<'Usage'>

export interface Sums {
  readonly requests: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly costUsd: number
  readonly unpriced: number
}

/** One row of the table, with its sums by day. */
export interface PivotRow extends Sums {
  /** The value of the group. It is null for requests without one, and undefined for all other groups together. */
  readonly value: string | null | undefined
  readonly days: ReadonlyMap<string, Sums>
}

const ZERO: Sums = {
  requests: 0,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  costUsd: 0,
  unpriced: 0,
}

function add(to: Sums, row: Sums): Sums {
  return {
    requests: to.requests + row.requests,
    errors: to.errors + row.errors,
    inputTokens: to.inputTokens + row.inputTokens,
    outputTokens: to.outputTokens + row.outputTokens,
    cachedTokens: to.cachedTokens + row.cachedTokens,
    costUsd: to.costUsd + row.costUsd,
    unpriced: to.unpriced + row.unpriced,
  }
}

export function sumAll(rows: readonly Sums[]): Sums {
  return rows.reduce(add, ZERO)
}

export function toSums(row: Usage): Sums {
  return {
    requests: row.requests,
    errors: row.errors,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedTokens: row.cached_tokens,
    costUsd: row.cost_usd ?? 0,
    unpriced: row.unpriced_requests,
  }
}

/** `22 Nov 2026` in the zone. */
export function toDate(at: number, timeZone: string): string {
  return toDateTime(at, timeZone).split(', ')[0] ?? ''
}

/** Returns the rows of the table: months newest first, other groups by cost, and the row of all others last. */
export function toPivot(rows: readonly Usage[], by: Pivot, timeZone: string): PivotRow[] {
  const groups = new Map<string, { value: PivotRow['value']; days: Map<string, Sums> }>()
  for (const row of rows) {
    const date = toDate(Date.parse(row.bucket), timeZone)
    const value = row.other === true ? undefined : valueOf(row, by, date)
    const id = value === undefined ? 'other' : JSON.stringify(value)
    const group = groups.get(id) ?? { value, days: new Map<string, Sums>() }
    groups.set(id, group)
    group.days.set(date, add(group.days.get(date) ?? ZERO, toSums(row)))
  }
  const pivot = [...groups.values()].map(group => ({ ...group, ...sumAll([...group.days.values()]) }))
  if (by === 'month') return pivot
  return pivot.sort((a, b) => {
    if ((a.value === undefined) !== (b.value === undefined)) return a.value === undefined ? 1 : -1
    return b.costUsd - a.costUsd || b.requests - a.requests
  })
}

function valueOf(row: Usage, by: Pivot, date: string): string | null {
  if (by === 'month') return date.replace(/^\d+ /, '')
  if (by === 'model') return row.model ?? null
  if (by === 'key') return row.key_id ?? null
  return (by === 'end_user' ? row.end_user_id : row.project_id) ?? null
}

function measure(sums: Sums | undefined, show: Measure): number {
  if (sums === undefined) return 0
  if (show === 'requests') return sums.requests
  return show === 'tokens' ? sums.inputTokens + sums.outputTokens : sums.costUsd
}

const SERIES = 5

/** Returns the series of the chart: the first rows by name, and the others as one. The bars of a day add up to all its rows. */
export function toStacks(
  pivot: readonly PivotRow[],
  days: readonly number[],
  show: Measure,
  timeZone: string,
  nameOf: (row: PivotRow) => string,
) {
  const dates = days.map(day => toDate(day, timeZone))
  const valuesOf = (rows: readonly PivotRow[]): number[] =>
    dates.map(date => rows.reduce((sum, row) => sum + measure(row.days.get(date), show), 0))
  const named = pivot.filter(({ value }) => value !== undefined).slice(0, SERIES)
  const others = pivot.filter(row => !named.includes(row))
  const series = named.map((row, index) => ({
    name: nameOf(row),
    color: `--series-${index + 1}`,
    values: valuesOf([row]),
  }))
  if (others.length > 0) {
    series.push({ name: 'Other', color: '--series-other', values: valuesOf(others) })
  }
  return { labels: days.map(day => toDay(day, timeZone)), series }
}
