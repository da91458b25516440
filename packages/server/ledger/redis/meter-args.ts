import type { Meter, MeterSubject } from '../../core/meter.ts'

/** As the scripts know a meter: what it counts, and 10 more where the sandbox does not count. */
export function codeOf(meter: Meter): number {
  const code = { requests: 3, tokens: 4, nano_usd: 5, in_flight: 6 }[meter.metric]
  const counted = meter.kind === 'rolling' ? code - 2 : code
  return meter.subject.isRealOnly ? counted + 10 : counted
}

/** Of a rolling meter, its window; 0: a total, or what is in flight, kept while it is used; else -1. Milliseconds. */
export function windowOf(meter: Meter): number {
  if (meter.kind === 'rolling') return meter.windowMs
  return meter.kind === 'span' && meter.end !== null ? -1 : 0
}

/** Where very many admissions of a window are told apart no finer than this. Milliseconds. */
export function grainOf(meter: Meter): number {
  return meter.kind === 'rolling' ? Math.max(1, Math.ceil(meter.windowMs / 20_000)) : 1
}

const HOUR_MS = 3_600_000
const WEEK_MS = 168 * HOUR_MS

/** How long a new counter lives if nothing renews it: past the end of its window, so that what runs then still settles. */
export function lifeOf(meter: Meter, at: number): number {
  if (meter.kind === 'rolling') return meter.windowMs * 2 + HOUR_MS
  if (meter.kind !== 'span' || meter.end === null) return WEEK_MS
  return Math.max(0, meter.end - at) + 24 * HOUR_MS
}

/** Project, environment, key, end user; empty: any, or none. */
export function subjectArgs(subject: MeterSubject): [string, string, string, string] {
  const user = toWhole(subject.endUserId ?? '')
  return [subject.projectId ?? '', subject.environmentId ?? '', subject.keyId ?? '', user]
}

/** Half a surrogate pair in what a caller named would make the JSON of a whole call unreadable; in UTF-8 it is U+FFFD too. */
function toWhole(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text
}

/** Whom a counter concerns, and from when to when. */
export function concernArgs(meter: Meter): (string | number)[] {
  const until = meter.kind === 'span' ? (meter.end ?? 0) : 0
  return [...subjectArgs(meter.subject), meter.since, until]
}

/** The key of an organization's holds; the braces keep all that is its own in one slot of a cluster. */
export function holdsOf(run: string, orgId: string): string {
  return `rideau:${run}:{${orgId}}:holds`
}

/** Key, code, limit, window, grain. */
export type MeterRow = readonly [string, number, number, number, number]

/** Meters live as long as the window and the policies that they are made of; requests share them. */
const rows = new WeakMap<Meter, MeterRow>()

/** A meter as operations tell it. */
export function rowOf(meter: Meter): MeterRow {
  let row = rows.get(meter)
  if (row === undefined) {
    row = [toWhole(meter.key), codeOf(meter), meter.limit, windowOf(meter), grainOf(meter)]
    rows.set(meter, row)
  }
  return row
}
