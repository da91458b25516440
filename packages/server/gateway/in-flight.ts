import type { Exchange } from './exchange.ts'

/** The requests that are running in this process, by environment and request id: for cancel, and to keep ids apart. */
export class InFlight {
  readonly #exchanges = new Map<string, Exchange>()

  /** False where the environment already has a request of that id in flight. */
  add(environmentId: string, exchange: Exchange): boolean {
    const id = `${environmentId}/${exchange.requestId}`
    if (this.#exchanges.has(id)) return false
    this.#exchanges.set(id, exchange)
    return true
  }

  find(environmentId: string, requestId: string): Exchange | undefined {
    return this.#exchanges.get(`${environmentId}/${requestId}`)
  }

  remove(environmentId: string, exchange: Exchange): void {
    const id = `${environmentId}/${exchange.requestId}`
    // An exchange that was refused before it was entered must not take out another of the same id.
    if (this.#exchanges.get(id) === exchange) this.#exchanges.delete(id)
  }

  get size(): number {
    return this.#exchanges.size
  }

  all(): Iterable<Exchange> {
    return this.#exchanges.values()
  }
}
