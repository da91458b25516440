import type { Bill } from '@rideau/llm/usage/bill'
import { cacheWriteTokens } from '@rideau/llm/usage/usage-sums'
import type { Fault } from '../../core/fault.ts'
import type { FaultCode } from '../../core/fault-table.ts'
import { toCapturedText } from '../../core/records/record-line.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { addBills, FREE } from '../billing/bill.ts'
import { isIdentified, type RequestContext } from '../request/request-context.ts'
import type { RecordDeps } from './record-deps.ts'
import { settleReservation } from './settle-reservation.ts'
import { startRecord } from './start-record.ts'
import { toStorableAmount, toStorableCount } from './storable-amounts.ts'

/** The outcome of a request. Absent fields were not reached. */
export interface Outcome {
  readonly status: number
  readonly fault?: Fault
  readonly bill?: Bill
  readonly finishReason?: string
  /** Why the gateway ended the answer early. Becomes the record's error code, though the caller got a 200. */
  readonly cutBy?: FaultCode | undefined
  /** The body of the answer, for environments whose `log_capture` is `full`. */
  readonly responseBody?: string | undefined
}

/**
 * Writes the record of a request. Resolves once it is in the journal; the last byte of an answer is sent after that, so
 * every answered request is logged. Returns undefined if the request was settled before, or if no environment is known,
 * since no caller could read its record.
 */
export function settle(ctx: RequestContext, outcome: Outcome, deps: RecordDeps): Promise<void> | undefined {
  if (!isIdentified(ctx) || !ctx.markSettled()) return undefined
  const { environment, recordFields } = ctx
  // The sandbox is free, but abandoned attempts at paid providers must be billed.
  const isSandbox = recordFields.isSandbox && !ctx.isAbandonedReal
  const own = recordFields.isSandbox && !isSandbox ? FREE : (outcome.bill ?? recordFields.answered ?? FREE)
  const { usage, isEstimated, costNanoUsd } = addBills(ctx.abandoned, own)
  const record = startRecord(ctx)
  record.status = outcome.status
  record.error_code = outcome.fault?.code ?? outcome.cutBy ?? null
  record.provider_message = outcome.fault?.providerMessage ?? null
  record.finish_reason = outcome.finishReason ?? null
  record.queue_ms = elapsed(ctx, ctx.firstAttemptAt) ?? elapsed(ctx, performance.now()) ?? 0
  record.first_byte_ms = elapsed(ctx, ctx.firstByteAt)
  record.total_ms = elapsed(ctx, performance.now()) ?? 0
  record.uncached_input_tokens = toStorableCount(usage.uncachedInput)
  record.cache_read_tokens = toStorableCount(usage.cacheRead)
  record.cache_write_tokens = toStorableCount(cacheWriteTokens(usage))
  record.output_tokens = toStorableCount(usage.output)
  record.reasoning_tokens = toStorableCount(usage.reasoning)
  record.usage_estimated = isEstimated
  record.cost_nano_usd = toStorableAmount(costNanoUsd)
  record.sandbox = isSandbox
  record.attempts = ctx.attempts
  if (environment.logCapture === 'full') {
    if (recordFields.requestBody !== undefined) record.request_body = toCapturedText(recordFields.requestBody)
    if (outcome.responseBody !== undefined) record.response_body = outcome.responseBody
  }
  if (record.provider !== null) deps.providerCounts.noteBill(record.provider, own)
  let writing: Promise<void> | undefined
  try {
    writing = deps.writeRecord(record)
  } finally {
    // Also if the journal throws, since the usage is real.
    settleGuarded(ctx, record, writing, deps)
  }
  ctx.trace?.noteRecord(record, own.usage)
  return writing
}

/** Settles the reservation. If that throws, handles a rejection of `writing`, since no caller awaits it then. */
function settleGuarded(
  ctx: RequestContext,
  record: RequestRecord,
  writing: Promise<void> | undefined,
  deps: RecordDeps,
): void {
  try {
    settleReservation(ctx, record, deps)
  } catch (error) {
    writing?.catch(late => deps.onException(late, 'the record of a request', ctx.requestId))
    throw error
  }
}

/** Returns milliseconds since arrival, to a hundredth. */
function elapsed(ctx: RequestContext, at: number | undefined): number | null {
  return at === undefined ? null : Math.round((at - ctx.startedAt) * 100) / 100
}
