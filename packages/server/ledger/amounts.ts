import type { Meter, MeterSubject, Metric } from '../core/meter.ts'
import type { Amounts, Used } from './ledger.ts'

/** What a hold of these amounts takes of a meter. */
export function amountOf(metric: Metric, amounts: Amounts): number {
  if (metric === 'tokens') return amounts.tokens
  return metric === 'nano_usd' ? amounts.nanoUsd : 1
}

/** What an ended request leaves in the sum of a meter. */
export function usedOf(meter: Meter, used: Used): number {
  if (used.isSandbox && meter.subject.isRealOnly) return 0
  if (meter.metric === 'in_flight') return 0
  return meter.metric === 'requests' ? used.requests : amountOf(meter.metric, used)
}

/** Does a meter count the requests of this subject, at this instant? */
export function concerns(meter: Meter, subject: MeterSubject, at: number): boolean {
  const whose = meter.subject
  return (
    at >= meter.since &&
    (meter.kind !== 'span' || meter.end === null || at < meter.end) &&
    whose.orgId === subject.orgId &&
    (whose.projectId === null || whose.projectId === subject.projectId) &&
    (whose.environmentId === null || whose.environmentId === subject.environmentId) &&
    (whose.keyId === null || whose.keyId === subject.keyId) &&
    (whose.endUserId === null || whose.endUserId === subject.endUserId)
  )
}
