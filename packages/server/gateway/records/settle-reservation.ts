import { toMeteredUsage } from '../../core/limits/metered-usage.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { RecordDeps } from './record-deps.ts'

/** Replaces a request's reservation with its usage. Called while its record is being written to the journal. */
export function settleReservation(ctx: RequestContext, record: RequestRecord, deps: RecordDeps): void {
  if (ctx.reservation === undefined) return
  ctx.reservation.settle(toMeteredUsage(record))
  if (ctx.reservation.amounts.tokens === 0 || record.status >= 400 || record.usage_estimated) return
  const output = record.output_tokens + record.reasoning_tokens
  // A cut answer would have been longer. Counting it double lets a learned cap grow again.
  const length = record.finish_reason === 'length' ? output * 2 : output
  deps.learned.note(record.org_id, record.key_id, record.model ?? '', length)
}
