import type { Amounts } from '../../ledger/ledger.ts'

/** The output that a request holds, of all choices together. */
export interface ReservedOutput {
  /** What is billed of the input where no usage comes: less than what is held of it. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** It never has more: what the targets keep to. */
  readonly maxOutputTokens: number
  /** The targets are asked for no more than is held. */
  readonly isCapped: boolean
  /** What so much output takes of the limits, with the input. */
  toAmounts(outputTokens: number): Amounts
}
