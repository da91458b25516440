import { toLostBill } from '../billing/bill.ts'
import type { HeldOutput } from '../limits/held-output.ts'
import type { Facts } from '../request/facts.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RecordDeps } from './record-deps.ts'
import { startRecord } from './start-record.ts'

/** What the line says of tokens. */
export type Estimate = Pick<HeldOutput, 'inputTokens' | 'outputTokens'>

/**
 * Journals what a request will count as if this process is killed while it runs. One that holds tokens or money: what it
 * holds, as an estimate. One that holds anything else of counters that outlive this process: its input, so that the replay
 * finds its hold by its id. Others need no such line: nothing that is limited depends on them.
 */
export function openRecord(
  ctx: IdentifiedContext,
  held: Estimate | undefined,
  counter: { countInput(): number },
  deps: RecordDeps,
): void {
  const { admission, facts } = ctx
  const isHeldElsewhere = deps.isLedgerShared && (admission?.standings.length ?? 0) > 0
  if (held === undefined && !isHeldElsewhere) return
  const { inputTokens, outputTokens } = held ?? { inputTokens: counter.countInput(), outputTokens: 0 }
  const record = startRecord(ctx)
  record.status = 502
  record.error_code = 'stream_interrupted'
  record.uncached_input_tokens = inputTokens
  record.output_tokens = outputTokens
  record.usage_estimated = true
  record.cost_nano_usd =
    held === undefined ? toInputCost(facts, inputTokens) : (admission?.hold.nanoUsd ?? null)
  deps.openRecord(record)
}

function toInputCost({ catalogModel }: Facts, inputTokens: number): number | null {
  return toLostBill(catalogModel, { isAnswered: false, bytes: 0 }, { inputTokens, outputTokens: 0 })
    .costNanoUsd
}
