import { type RememberedAnswer, sizeOf } from './answer-memory.ts'
import type { AnswerOwner } from './answer-store.ts'
import { MAX_ANSWER_BYTES } from './stored-answer.ts'

/** An answer that the database did not take yet. */
export interface UnstoredAnswer {
  readonly claimId: string
  readonly owner: AnswerOwner
  readonly remembered: RememberedAnswer
  /** True while it is being written. */
  isBusy: boolean
}

/** What one organization may have: the longest answer with what it takes besides, and some short ones. */
const OWN_BYTES = MAX_ANSWER_BYTES + 1024 * 1024
/** What all may have. An organization has a quarter of it at most. */
const MAX_BYTES = 4 * OWN_BYTES

/**
 * Answers that callers have, or are about to get, while the database cannot be written. They are replayed from here, so
 * that none is made twice, and written later. What one organization has leaves room to others.
 */
export class UnstoredAnswers {
  readonly #answers = new Map<string, UnstoredAnswer>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  get size(): number {
    return this.#answers.size
  }

  find(key: string): RememberedAnswer | undefined {
    return this.#answers.get(key)?.remembered
  }

  /** Returns false if there is no room, or none for the organization. */
  add(key: string, unstored: UnstoredAnswer): boolean {
    const bytes = sizeOf(unstored.remembered)
    const own = (this.#bytesOf.get(unstored.owner.orgId) ?? 0) + bytes
    if (own > OWN_BYTES || this.#bytes + bytes > MAX_BYTES) return false
    this.#count(unstored, bytes)
    this.#answers.set(key, unstored)
    return true
  }

  remove(key: string, unstored: UnstoredAnswer): void {
    if (this.#answers.get(key) !== unstored) return
    this.#answers.delete(key)
    this.#count(unstored, -sizeOf(unstored.remembered))
  }

  /** Returns the answers of each organization by their keys, those added first first. */
  listByOrganization(): (readonly [string, UnstoredAnswer])[][] {
    const lists = new Map<string, (readonly [string, UnstoredAnswer])[]>()
    for (const entry of this.#answers) {
      const { orgId } = entry[1].owner
      const list = lists.get(orgId)
      if (list === undefined) lists.set(orgId, [entry])
      else list.push(entry)
    }
    return [...lists.values()]
  }

  #count({ owner: { orgId } }: UnstoredAnswer, bytes: number): void {
    this.#bytes += bytes
    const own = (this.#bytesOf.get(orgId) ?? 0) + bytes
    if (own > 0) this.#bytesOf.set(orgId, own)
    else this.#bytesOf.delete(orgId)
  }
}
