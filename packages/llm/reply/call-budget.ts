import { type ReasoningDetail, sizeOf } from './reasoning-detail.ts'

/** The most tool calls that one answer may have, over all its choices. Models make some dozens at once. */
export const MAX_CALLS = 512
/** The most characters of reasoning that the ids of its calls carry: packing more would take long. */
export const MAX_CARRIED = 1024 * 1024

/**
 * Counts the tool calls of one answer while it is decoded. The id of each may be packed with the reasoning before it, which takes
 * about 50 us and 30 ms more for each MiB, and all calls of an answer that comes at once are decoded in one tick of the event
 * loop: a provider that a tenant runs could stop all others with 20,000 of them, or with 64 MiB of reasoning.
 */
export class CallBudget {
  private left = MAX_CALLS
  private leftCarried = MAX_CARRIED

  /**
   * Counts a call. Returns the reasoning that its id carries: none if it is too long with what the others carry. Throws if the answer
   * has more calls than it may.
   */
  take(details: readonly ReasoningDetail[]): readonly ReasoningDetail[] {
    if (this.left === 0) throw new Error(`the answer has more than ${MAX_CALLS} tool calls`)
    this.left--
    const length = details.reduce((sum, detail) => sum + sizeOf(detail), 0)
    if (length > this.leftCarried) return []
    this.leftCarried -= length
    return details
  }
}
