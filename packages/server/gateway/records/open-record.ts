import { toAbandonedBill } from '../billing/bill.ts'
import type { ReservedOutput } from '../limits/reserved-output.ts'
import type { RecordFields } from '../request/record-fields.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RecordDeps } from './record-deps.ts'
import { startRecord } from './start-record.ts'
import { toStorableAmount, toStorableCount } from './storable-amounts.ts'

/** The tokens that the journal line states. */
export type Estimate = Pick<ReservedOutput, 'inputTokens' | 'outputTokens'>

/**
 * Journals what a request counts as if this process is killed while it runs. If it reserves tokens or money, the line
 * states the reserved amounts as an estimate. If it only reserves on counters that outlive this process, the line
 * states its input, so that the replay can settle the reservation by its id. Other requests affect no limit and need no
 * line. Neither does a settled request, whose reservation may be extended late: nothing would remove the line.
 */
export function openRecord(
  ctx: IdentifiedContext,
  reserved: Estimate | undefined,
  counter: { countInput(): number },
  deps: RecordDeps,
): void {
  if (ctx.phase === 'settled' || ctx.phase === 'ended') return
  const { reservation, recordFields } = ctx
  const isReservedElsewhere = deps.isLedgerShared && (reservation?.meterStatuses.length ?? 0) > 0
  if (reserved === undefined && !isReservedElsewhere) return
  const { inputTokens, outputTokens } = reserved ?? { inputTokens: counter.countInput(), outputTokens: 0 }
  const record = startRecord(ctx)
  record.status = 502
  record.error_code = 'stream_interrupted'
  record.uncached_input_tokens = toStorableCount(inputTokens)
  record.output_tokens = toStorableCount(outputTokens)
  record.usage_estimated = true
  record.cost_nano_usd = toStorableAmount(
    reserved === undefined ? toInputCost(recordFields, inputTokens) : (reservation?.amounts.nanoUsd ?? null),
  )
  deps.openRecord(record)
}

function toInputCost({ catalogModel }: RecordFields, inputTokens: number): number | null {
  return toAbandonedBill(catalogModel, { isAnswered: false, bytes: 0 }, { inputTokens, outputTokens: 0 })
    .costNanoUsd
}
