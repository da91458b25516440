import { type RememberedAnswer, sizeOf } from './answer-memory.ts'

/** An answer that the database did not take yet. */
export interface UnstoredAnswer {
  readonly claimId: string
  readonly remembered: RememberedAnswer
  /** True while it is being written. */
  isBusy: boolean
}

/**
 * Answers that callers have, or are about to get, while the database cannot be written. They are replayed from here, so
 * that none is made twice, and written later.
 */
export class UnstoredAnswers {
  readonly #maxBytes: number
  readonly #answers = new Map<string, UnstoredAnswer>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#answers.size
  }

  find(key: string): RememberedAnswer | undefined {
    return this.#answers.get(key)?.remembered
  }

  /** Returns false if there is no room. */
  add(key: string, unstored: UnstoredAnswer): boolean {
    const bytes = this.#bytes + sizeOf(unstored.remembered)
    if (bytes > this.#maxBytes) return false
    this.#bytes = bytes
    this.#answers.set(key, unstored)
    return true
  }

  remove(key: string, unstored: UnstoredAnswer): void {
    if (this.#answers.get(key) !== unstored) return
    this.#answers.delete(key)
    this.#bytes -= sizeOf(unstored.remembered)
  }

  list(): [string, UnstoredAnswer][] {
    return [...this.#answers]
  }
}
