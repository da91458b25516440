import { Client } from 'undici'
import { type OnException, throwLater } from '../../core/on-exception.ts'

/** Something that waits for a connection. */
export interface Borrower {
  /** Called once. The connection belongs to the borrower until it is given back or discarded. */
  take(connection: Client): void
  /** Called if the connections are closed. */
  reject(error: Error): void
}

/**
 * The connections to one origin. Each is an undici Client with one connection, opened when it is first needed and
 * reopened after it closed. undici's own Pool searches its clients for a free one on every call and emits events on
 * every change. Here the most recently used connection is used next, so that extra connections of a burst time out.
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
    // Reports failed assertions within undici. The call that met one has already failed.
    this.#onClientError = error => onException(error, 'an upstream connection')
  }

  /** Gives the borrower a free connection, a new one below the limit, or else the next one that is given back. */
  lend(borrower: Borrower): void {
    if (this.#isDestroyed) return queueMicrotask(() => borrower.reject(closedError()))
    const free = this.#free.pop()
    if (free !== undefined) borrower.take(free)
    else if (this.#all.size < this.#maxConnections) borrower.take(this.#open())
    else this.#waiting.add(borrower)
  }

  /** Removes a borrower that no longer waits. */
  withdraw(borrower: Borrower): void {
    this.#waiting.delete(borrower)
  }

  /** Returns a connection after a complete answer. */
  giveBack(connection: Client): void {
    const next = this.#nextWaiting()
    if (next !== undefined) next.take(connection)
    else if (this.#isRetired) this.#close(connection)
    else this.#free.push(connection)
  }

  /**
   * Removes a connection after a failure, and opens another one for the next borrower. Deferred, since undici must not
   * be called while it handles the failure. Some failures leave a client that never connects again (undici#3895).
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

  /** Closes free connections now and the others when their calls have ended. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#free.splice(0)) this.#close(connection)
  }

  /** Ends all calls and closes all connections. */
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
    // undici's types do not declare this event.
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
