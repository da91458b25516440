import { toMeteredUsage } from '../../core/metered-usage.ts'
import type { RequestRecord } from '../../core/request-record.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { RecordDeps } from './record-deps.ts'

/** Turns what a request holds into what it used; its record is on its way to the journal. */
export function settleReservation(ctx: RequestContext, record: RequestRecord, deps: RecordDeps): void {
  if (ctx.reservation === undefined) return
  ctx.reservation.settle(toMeteredUsage(record))
  if (ctx.reservation.amounts.tokens === 0 || record.status >= 400 || record.usage_estimated) return
  const output = record.output_tokens + record.reasoning_tokens
  // An answer that was cut would have been longer: without this a cap that was learned could never grow.
  const length = record.finish_reason === 'length' ? output * 2 : output
  deps.learned.note(record.key_id, record.model ?? '', length)
}
