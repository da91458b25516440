import { type OnException, runGuarded } from '../../core/on-exception.ts'

/**
 * Reservations that workers asked for in this tick of the event loop. They are made once all sockets that have data were read: the
 * order in which sockets become ready is not the order of messages, and a settlement that one worker sent before its answer must count
 * before the request that another worker received after that answer.
 */
export class WaitingReservations {
  readonly #onException: OnException
  readonly #waiting = new Map<string, () => void>()

  constructor(onException: OnException) {
    this.#onException = onException
  }

  /** `id`: the reservation's. `reserve` makes it. */
  add(id: string, reserve: () => void): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#reserveAll())
    this.#waiting.set(id, reserve)
  }

  /** Makes a reservation now if it waits: it is ended in the same tick. */
  hurry(id: string): void {
    const reserve = this.#waiting.get(id)
    if (reserve === undefined) return
    // The map must not become empty: its immediate would be set twice.
    this.#waiting.set(id, () => {})
    this.#run(reserve)
  }

  #reserveAll(): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const reserve of waiting) this.#run(reserve)
  }

  #run(reserve: () => void): void {
    runGuarded('a reservation of a worker', this.#onException, reserve)
  }
}
