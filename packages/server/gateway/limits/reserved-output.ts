import type { Amounts } from '../../ledger/ledger.ts'

/** The output tokens that a request reserves for all its choices together. */
export interface ReservedOutput {
  /** Input tokens billed if the provider reports no usage. Fewer than are reserved for the input. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** The most output tokens that the targets may return. */
  readonly maxOutputTokens: number
  /** True if the targets are asked for no more than is reserved. */
  readonly isCapped: boolean
  /** Returns what to reserve for this many output tokens, the input included. */
  toAmounts(outputTokens: number): Amounts
}
