import type { Usage } from './usage.ts'

/** What a request used and what that costs. */
export interface Bill {
  readonly usage: Usage
  /** True if the provider named no usage: these are the gateway's own counts. */
  readonly isEstimated: boolean
  /** Whole nano-dollars; null: the price is unknown, which is never zero. */
  readonly costNanoUsd: number | null
}
