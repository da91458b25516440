import { FairSlots } from '../../http/fairness/fair-slots.ts'
import type { AnswerOwner } from './answer-store.ts'

/** Reads up to this size cost too little to wait for each other. */
const FREE_BYTES = 256 * 1024
/** How long the process rests after a read, as a multiple of the time that the read took. */
const REST_FACTOR = 2
const MAX_REST_MS = 1_000

/**
 * Reads large answers one after another with rests between them, since reading one takes 60 ms of the
 * event loop in all. Organizations take turns, and the environments of each, so that one that repeats its answers delays only its own.
 */
export class PacedReads {
  readonly #slots = new FairSlots({
    total: 1,
    perTenant: 1,
    perCaller: 1,
    waitingPerTenant: Number.POSITIVE_INFINITY,
  })

  /** Rejects with the error of `onTimeout` if the read has not begun after `timeoutMs`. */
  async run<Result>(
    { orgId, environmentId }: AnswerOwner,
    bytes: number,
    read: () => Promise<Result>,
    timeoutMs: number,
    onTimeout: () => Error,
  ): Promise<Result> {
    if (bytes <= FREE_BYTES) return await read()
    const caller = `caller in ${environmentId}`
    if (!(await this.#slots.acquire(environmentId, caller, timeoutMs, orgId))) throw onTimeout()
    const startedAt = performance.now()
    try {
      return await read()
    } finally {
      const restMs = Math.min(REST_FACTOR * (performance.now() - startedAt), MAX_REST_MS)
      setTimeout(() => this.#slots.release(environmentId, caller, orgId), restMs).unref()
    }
  }
}
