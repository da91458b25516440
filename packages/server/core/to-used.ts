import type { RequestRecord } from './request-record.ts'

/** What a request came to, as limits count it. */
export interface UsedByRecord {
  readonly requests: 0 | 1
  readonly tokens: number
  readonly nanoUsd: number
  readonly isSandbox: boolean
}

/** What the record of a request says that it came to: the usage ledger's sums say the same (usage-seeds.ts). */
export function toUsed(record: RequestRecord): UsedByRecord {
  const output = record.output_tokens + record.reasoning_tokens
  const input = record.uncached_input_tokens + record.cache_read_tokens + record.cache_write_tokens
  const tokens = input + output
  return {
    // What was refused or failed before anything was generated consumes no quota.
    requests: record.status < 400 || tokens > 0 ? 1 : 0,
    tokens,
    nanoUsd: record.cost_nano_usd ?? 0,
    isSandbox: record.sandbox,
  }
}
