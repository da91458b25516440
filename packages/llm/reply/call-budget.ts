/** The most tool calls that one answer may have, over all its choices. Models make some dozens at once. */
export const MAX_CALLS = 512

/**
 * Counts the tool calls of one answer while it is decoded. The id of each may be packed with the reasoning before it, which takes
 * about 50 us, and all calls of an answer that comes at once are decoded in one tick of the event loop: a provider that a tenant
 * runs could stop all others with 20,000 of them.
 */
export class CallBudget {
  private left = MAX_CALLS

  /** Throws if the answer has more calls than it may. */
  take(): void {
    if (this.left === 0) throw new Error(`the answer has more than ${MAX_CALLS} tool calls`)
    this.left--
  }
}
