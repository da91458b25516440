import type { RequestRecord } from '../../core/request-record.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'

/** Turns what a request holds into what it used; its record is in the journal before. */
export function endAdmission(x: Exchange, record: RequestRecord, deps: GatewayDeps): void {
  if (x.admission === undefined) return
  const output = record.output_tokens + record.reasoning_tokens
  const input = record.uncached_input_tokens + record.cache_read_tokens + record.cache_write_tokens
  const tokens = input + output
  x.admission.settle({
    // What was refused or failed before anything was generated consumes no quota.
    requests: record.status < 400 || tokens > 0 ? 1 : 0,
    tokens,
    nanoUsd: record.cost_nano_usd ?? 0,
    isSandbox: record.sandbox,
  })
  if (x.admission.hold.tokens === 0 || record.status >= 400 || record.usage_estimated) return
  // An answer that was cut would have been longer: without this a cap that was learned could never grow.
  const length = record.finish_reason === 'length' ? output * 2 : output
  deps.learned.note(record.key_id, record.model ?? '', length)
}
