import type { HeldOutput } from '../chat-plan.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import type { Facts } from '../facts.ts'
import { startRecord } from './start-record.ts'

/**
 * Journals what a request that holds tokens or money will count as if this process is killed while it runs: what it
 * holds, as an estimate. Others need no such line: nothing that is limited depends on them.
 */
export function openRecord(x: Exchange, facts: Facts, held: HeldOutput, deps: GatewayDeps): void {
  const { caller, environment } = x
  if (caller === undefined || environment === undefined) return
  const record = startRecord(x, caller, environment, facts)
  record.status = 502
  record.error_code = 'stream_interrupted'
  record.uncached_input_tokens = held.inputTokens
  record.output_tokens = held.outputTokens
  record.usage_estimated = true
  record.cost_nano_usd = x.admission?.hold.nanoUsd ?? null
  deps.openRecord(record)
}
