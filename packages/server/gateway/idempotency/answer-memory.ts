import type { StoredAnswer } from './stored-answer.ts'

export interface RememberedAnswer {
  readonly bodyHash: Buffer
  readonly answer: StoredAnswer
  /** Unix milliseconds. */
  readonly expiresAt: number
}

/** Larger answers are read from the database each time. */
const MAX_ENTRY_BYTES = 1024 * 1024
/** What an entry takes besides its answer. */
const ENTRY_BYTES = 1024

/** The answers that were used last, by the hash of their key. They save reading the database. */
export class AnswerMemory {
  readonly #maxBytes: number
  readonly #answers = new Map<string, RememberedAnswer>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  find(key: string, now: number): RememberedAnswer | undefined {
    const found = this.#answers.get(key)
    if (found === undefined) return undefined
    this.#delete(key, found)
    if (found.expiresAt <= now) return undefined
    this.add(key, found)
    return found
  }

  add(key: string, remembered: RememberedAnswer): void {
    const size = sizeOf(remembered)
    if (size > MAX_ENTRY_BYTES) return
    const previous = this.#answers.get(key)
    if (previous !== undefined) this.#delete(key, previous)
    this.#answers.set(key, remembered)
    this.#bytes += size
    // A Map iterates in the order of insertion, and a use inserts again: the first is the one unused for longest.
    for (const [oldest, answer] of this.#answers) {
      if (this.#bytes <= this.#maxBytes) return
      this.#delete(oldest, answer)
    }
  }

  #delete(key: string, remembered: RememberedAnswer): void {
    this.#answers.delete(key)
    this.#bytes -= sizeOf(remembered)
  }
}

export function sizeOf({ answer: { body, frames } }: RememberedAnswer): number {
  return body.length + 8 * (frames?.length ?? 0) + ENTRY_BYTES
}
