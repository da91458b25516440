import type { UsageRow } from '../../storage/usage/usage.ts'
import { endOfBucket, startOfBucket, usageBounds } from '../../storage/usage/usage-buckets.ts'
import type { UsageFilter } from '../../storage/usage/usage-filter.ts'

/**
 * Returns the rows with a row of zeros for each bucket in which a group has none, newest bucket first; undefined if there
 * would be more than `most`. `rows`: all of them, newest first. Yields after each piece of the work.
 */
export function* fillUsage(
  rows: readonly UsageRow[],
  filter: UsageFilter,
  most: number,
): Generator<void, readonly UsageRow[] | undefined> {
  const groups = new Map<string, UsageRow>()
  const stored = new Map<number, Map<string, UsageRow>>()
  let hasReal = false
  for (const row of rows) {
    groups.set(row.id, row)
    hasReal ||= !row.sandbox
    const at = row.bucket.getTime()
    const bucket = stored.get(at)
    if (bucket === undefined) stored.set(at, new Map([[row.id, row]]))
    else bucket.set(row.id, row)
    yield
  }
  // Real requests have a row also if only the sandbox answered, or no provider.
  if (filter.groups.length === 0 && !hasReal) groups.set('', NOTHING)
  const starts = yield* listStarts(filter, [...stored.keys()])
  if (starts.length * groups.size > most) return undefined
  const filled: UsageRow[] = []
  for (const at of starts) {
    const bucket = stored.get(at)
    for (const [id, row] of groups) {
      filled.push(bucket?.get(id) ?? { ...row, ...ZEROS, bucket: new Date(at) })
      yield
    }
  }
  return filled
}

const HOUR_MS = 3_600_000
const HOURS_BETWEEN_LOOKS = 24

/** The starts of all buckets, newest first. A stored day that began in an earlier time zone stands for the day it began in. */
function* listStarts(filter: UsageFilter, stored: readonly number[]): Generator<void, number[]> {
  const { from, to, granularity } = filter
  if (granularity === 'total') return [usageBounds(filter).begin]
  const calendar = { ...filter, isByQuarter: true }
  const known = [...stored].sort((a, b) => a - b)
  const starts = new Set(known)
  let next = 0
  let at = startOfBucket(calendar, from.getTime())
  for (let count = 1; at < to.getTime() || at <= from.getTime(); count++) {
    // The calendar is slow to ask, and a zone changes the minute at which hours begin only on a few days.
    const isStep = granularity === 'hour' && count % HOURS_BETWEEN_LOOKS !== 0
    const end = isStep ? at + HOUR_MS : endOfBucket(calendar, at)
    while ((known[next] ?? Infinity) < at) next++
    if ((known[next] ?? Infinity) >= end) starts.add(at)
    at = end
    yield
  }
  return [...starts].sort((a, b) => b - a)
}

const ZEROS = {
  requests: 0,
  errors: 0,
  unpriced: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  costNanoUsd: 0,
  latencies: '{}',
  firstBytes: '{}',
}

const NOTHING: UsageRow = {
  ...ZEROS,
  id: '',
  bucket: new Date(0),
  groups: {},
  sandbox: false,
  isRest: false,
}
