import { throwLater } from '../../core/on-exception.ts'

/** Settlements that are sent together. */
const BATCH_SIZE = 100

/** The settlements of killed processes, until the server has them. */
export class RecoveredSettlements<Settlement> {
  readonly #send: (settlement: Settlement) => Promise<boolean>
  #waiting: { readonly settlements: Settlement[]; readonly done: () => void }[] = []
  #isSending = false
  #isRequestedAgain = false

  /** `send` resolves with false where the server is unreachable. `sendAll` is to be called when it is reachable again. */
  constructor(send: (settlement: Settlement) => Promise<boolean>) {
    this.#send = send
  }

  /** Resolves when the server has all of them. */
  add(settlements: readonly Settlement[]): Promise<void> {
    const delivered = new Promise<void>(resolve =>
      this.#waiting.push({ settlements: [...settlements], done: resolve }),
    )
    this.sendAll()
    return delivered
  }

  /** Sends what the server does not have yet. */
  sendAll(): void {
    this.#isRequestedAgain = this.#isSending
    if (this.#isSending) return
    this.#isSending = true
    this.#sendWaiting()
      .finally(() => {
        this.#isSending = false
        if (this.#isRequestedAgain) this.sendAll()
      })
      .catch(error => throwLater(error, 'the settlements of killed processes'))
  }

  async #sendWaiting(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      while (first.settlements.length > 0) {
        const batch = first.settlements.slice(0, BATCH_SIZE)
        const results = await Promise.all(batch.map(this.#send))
        // The whole batch is sent again later: a settlement that the server has already changes nothing.
        if (results.includes(false)) return
        first.settlements.splice(0, batch.length)
      }
      this.#waiting.shift()
      first.done()
    }
  }
}
