import { createHash } from 'node:crypto'
import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import { ruleOf } from '../rules/counting-rules.ts'
import { EXCLUDES_SANDBOX } from './lua-rules.ts'

// Meters and subjects as arguments of the scripts.

/** Returns the code by which scripts look up how a meter counts (see lua-rules.ts). */
function codeOf(meter: Meter): number {
  const { code } = ruleOf(meter)
  return meter.subject.excludesSandbox ? code + EXCLUDES_SANDBOX : code
}

/** Returns a rolling window's length in ms; 0: `total` or concurrency; -1: a calendar window. See keep_alive in counters.lua. */
function windowOf(meter: Meter): number {
  if (meter.kind === 'rolling') return meter.windowMs
  return meter.kind === 'fixed' && meter.end !== null ? -1 : 0
}

const HOUR_MS = 3_600_000
const WEEK_MS = 168 * HOUR_MS

/** Returns how long a new counter lives unless it is used, in ms. Longer than its window, so that requests still settle in it. */
export function lifeOf(meter: Meter, at: number): number {
  if (meter.kind === 'rolling') return meter.windowMs * 2 + HOUR_MS
  if (meter.kind !== 'fixed' || meter.end === null) return WEEK_MS
  return Math.max(0, meter.end - at) + 24 * HOUR_MS
}

/** Returns project, environment, key and end user. '': any of them for a meter, none for a request. */
export function subjectArgs(subject: MeterSubject): [string, string, string, string] {
  const endUser = toWellFormed(subject.endUserId ?? '')
  return [subject.projectId ?? '', subject.environmentId ?? '', subject.keyId ?? '', endUser]
}

/** Replaces lone surrogates, which callers may send in ids, by U+FFFD, as UTF-8 does. Redis could not parse the batch's JSON with them. */
function toWellFormed(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text
}

/** Returns the subject of a meter and the time for which it counts: since, until; 0: no end. */
export function countedArgs(meter: Meter): (string | number)[] {
  const until = meter.kind === 'fixed' ? (meter.end ?? 0) : 0
  return [...subjectArgs(meter.subject), meter.since, until]
}

/** A longer key is replaced by its hash: callers choose the ids of end users, of up to 1,020 bytes. */
const MAX_NAME_BYTES = 128

/** Returns what the scripts name a meter's counter by. No key equals the hash of another: keys contain colons. */
function toName(key: string): string {
  const name = toWellFormed(key)
  return Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : createHash('sha256').update(name).digest('base64')
}

/** Name, code, limit and window of a meter, as run-batch.lua takes them. */
export type MeterRow = readonly [string, number, number, number]

/** Rows by meter. Requests share their meters, which live as long as their windows and policies. */
const rows = new WeakMap<Meter, MeterRow>()

export function rowOf(meter: Meter): MeterRow {
  let row = rows.get(meter)
  if (row === undefined) {
    row = [toName(meter.key), codeOf(meter), meter.limit, windowOf(meter)]
    rows.set(meter, row)
  }
  return row
}
