import { Client } from 'undici'
import { type OnException, throwLater } from '../../core/on-exception.ts'

/** Something that waits for a connection. */
export interface Borrower {
  /** Called once. It is the borrower's until it is given back or discarded. */
  take(connection: Client): void
  /** The connections are closed, and it gets none. */
  reject(error: Error): void
}

/**
 * The connections to one origin: clients of undici, each of them one connection, opened when it is first needed and again
 * after it was closed. undici's own pool looks through its clients for a free one at every call and tells listeners of every
 * change; here the connection that was used last is used next, so that those that a burst opened time out behind it.
 */
export class Connections {
  readonly #origin: string
  readonly #options: Client.Options
  readonly #onClientError: (error: Error) => void
  readonly #maxConnections: number
  readonly #all = new Set<Client>()
  readonly #free: Client[] = []
  readonly #waiting = new Set<Borrower>()
  #isRetired = false
  #isDestroyed = false

  constructor(
    origin: string,
    maxConnections: number,
    options: Client.Options,
    onException: OnException = throwLater,
  ) {
    this.#origin = origin
    this.#maxConnections = maxConnections
    this.#options = options
    // undici's own asserts end there: each call was told of its failure before.
    this.#onClientError = error => onException(error, 'an upstream connection')
  }

  /** Gives the borrower a connection: at once where there is one, else the next that is given back. */
  lend(borrower: Borrower): void {
    if (this.#isDestroyed) return queueMicrotask(() => borrower.reject(closedError()))
    const free = this.#free.pop()
    if (free !== undefined) borrower.take(free)
    else if (this.#all.size < this.#maxConnections) borrower.take(this.#open())
    else this.#waiting.add(borrower)
  }

  /** It waits no longer. */
  withdraw(borrower: Borrower): void {
    this.#waiting.delete(borrower)
  }

  /** After an answer's end. */
  giveBack(connection: Client): void {
    const next = this.#nextWaiting()
    if (next !== undefined) next.take(connection)
    else if (this.#isRetired) this.#close(connection)
    else this.#free.push(connection)
  }

  /**
   * After a failure. undici may be in the middle of it, and is not to be called from there; some failures leave a client that
   * never connects again (undici#3895). Another takes its place.
   */
  discard(connection: Client): void {
    this.#all.delete(connection)
    queueMicrotask(() => {
      connection.destroy().catch(() => {})
      const next = this.#nextWaiting()
      if (next === undefined) return
      try {
        this.lend(next)
      } catch (error) {
        next.reject(error as Error)
      }
    })
  }

  /** Calls under way are finished, and the connections closed behind them. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#free.splice(0)) this.#close(connection)
  }

  /** Ends all calls. */
  async destroy(): Promise<void> {
    this.#isRetired = true
    this.#isDestroyed = true
    for (let next = this.#nextWaiting(); next !== undefined; next = this.#nextWaiting())
      next.reject(closedError())
    await Promise.all([...this.#all].map(connection => connection.destroy()))
  }

  #nextWaiting(): Borrower | undefined {
    const next = this.#waiting.values().next().value
    if (next !== undefined) this.#waiting.delete(next)
    return next
  }

  #open(): Client {
    const connection = new Client(this.#origin, this.#options)
    // An event that undici's types do not name.
    const emitter: NodeJS.EventEmitter = connection
    emitter.on('error', this.#onClientError)
    this.#all.add(connection)
    return connection
  }

  #close(connection: Client): void {
    this.#all.delete(connection)
    if (!connection.destroyed) connection.close().catch(() => {})
  }
}

function closedError(): Error {
  return new Error('the connections are closed')
}
