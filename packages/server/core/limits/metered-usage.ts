import type { RequestRecord } from '../records/request-record.ts'

/** What meters count of a request that has ended. Whole numbers, never negative. */
export interface MeteredUsage {
  /** 0: the request was refused or failed before anything was generated. Quotas do not count it; rates do. */
  readonly requests: 0 | 1
  /** Input and output of every kind. */
  readonly tokens: number
  readonly nanoUsd: number
  /** The sandbox provider answered: meters whose subject excludes it count nothing. */
  readonly isSandbox: boolean
}

/** Returns what meters count of a recorded request. The sums of storage/usage/usage-seeds.ts must agree with it. */
export function toMeteredUsage(record: RequestRecord): MeteredUsage {
  const output = record.output_tokens + record.reasoning_tokens
  const input = record.uncached_input_tokens + record.cache_read_tokens + record.cache_write_tokens
  const tokens = input + output
  return {
    requests: record.status < 400 || tokens > 0 ? 1 : 0,
    tokens,
    nanoUsd: record.cost_nano_usd ?? 0,
    isSandbox: record.sandbox,
  }
}
