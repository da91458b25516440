import { Client } from 'undici'
import {
  type ConnectionShare,
  ConnectionShares,
  type ShareOwner,
} from '../../core/admission/connection-shares.ts'
import { type OnException, throwLater } from '../../core/on-exception.ts'

/** Something that needs a connection to an origin. */
export interface Borrower {
  readonly origin: string
  readonly owner: ShareOwner
  /** Where its connection is counted. Set by `lend`. */
  share: ConnectionShare<Borrower> | undefined
  /** Called once. The connection belongs to the borrower until it is given back or discarded. */
  take(connection: Connection): void
  /** Called if there can be no connection: they are closed, or the origin is not allowed. */
  reject(error: Error): void
}

/** A connection that is open, or will be when it is used. */
export interface Connection {
  /** undici's Client with one connection. */
  readonly client: Client
  readonly origin: Origin
  /** Where it is counted while it is lent. undefined: it is idle, or closed. */
  share: ConnectionShare<Borrower> | undefined
  /** When it was given back last, counted in connections given back. */
  idleSince: number
}

/** The connections to one origin. */
interface Origin {
  readonly url: string
  /** Oldest first. */
  readonly idle: Connection[]
  /** Idle and lent ones. */
  size: number
}

export interface ConnectionsOptions {
  readonly maxConnections: number
  readonly client: Client.Options
  /** Throws if no connection to this origin is allowed. */
  readonly assertOrigin?: (origin: string) => void
  readonly onException?: OnException
}

/**
 * All connections of the process to providers. They are divided fairly (core/admission/connection-shares.ts), and callers wait if
 * they hold their share. Each connection is an undici Client, opened when it is first needed. undici's own Pool searches
 * its clients for a free one on every call and emits events on every change. Here the most recently used connection is
 * used next, so that extra connections of a burst time out.
 */
export class Connections {
  readonly #max: number
  readonly #options: Client.Options
  readonly #assertOrigin: (origin: string) => void
  readonly #onClientError: (error: Error) => void
  readonly #shares: ConnectionShares<Borrower>
  /** Those with a connection. Tenants choose their own hosts, so an origin is dropped with its last connection. */
  readonly #origins = new Map<string, Origin>()
  readonly #all = new Set<Connection>()
  #given = 0
  #isDestroyed = false

  constructor({
    maxConnections,
    client,
    assertOrigin = () => {},
    onException = throwLater,
  }: ConnectionsOptions) {
    this.#max = maxConnections
    this.#options = client
    this.#assertOrigin = assertOrigin
    this.#shares = new ConnectionShares(maxConnections)
    // Reports failed assertions within undici. The call that met one has already failed.
    this.#onClientError = error => onException(error, 'an upstream connection')
  }

  /** Gives the borrower an idle connection or a new one, now or when it is its turn. */
  lend(borrower: Borrower): void {
    if (this.#isDestroyed) return queueMicrotask(() => borrower.reject(new Error('the transport is closed')))
    const share = this.#shares.openShare(borrower.owner, borrower.origin)
    borrower.share = share
    if (this.#shares.take(share)) this.#hand(borrower, share)
    else this.#shares.wait(share, borrower)
  }

  /** Removes a borrower that no longer waits. */
  withdraw(borrower: Borrower): void {
    if (borrower.share !== undefined) this.#shares.withdraw(borrower.share, borrower)
  }

  /** Returns a connection after a complete answer. */
  release(connection: Connection): void {
    const { share, origin } = connection
    if (share === undefined) return
    connection.share = undefined
    connection.idleSince = ++this.#given
    origin.idle.push(connection)
    this.#shares.release(share)
    if (this.#shares.hasWaiters) this.#serveWaiters()
  }

  /**
   * Closes a connection after a failure, and serves the next borrower. Deferred, since undici must not be called while
   * it handles the failure. Some failures leave a client that never connects again (undici#3895).
   */
  discard(connection: Connection): void {
    const { share } = connection
    if (share === undefined) return
    connection.share = undefined
    queueMicrotask(() => {
      this.#close(connection)
      this.#shares.release(share)
      if (this.#shares.hasWaiters) this.#serveWaiters()
    })
  }

  /** Ends all calls and closes all connections. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true
    for (let next = this.#shares.evict(); next !== undefined; next = this.#shares.evict())
      next.reject(new Error('the connections are closed'))
    await Promise.all([...this.#all].map(({ client }) => client.destroy()))
  }

  #serveWaiters(): void {
    if (this.#isDestroyed) return
    for (let next = this.#shares.next(); next !== undefined; next = this.#shares.next())
      this.#hand(next, next.share as ConnectionShare<Borrower>)
  }

  /** Hands over a connection that is counted already. */
  #hand(borrower: Borrower, share: ConnectionShare<Borrower>): void {
    let connection: Connection
    try {
      connection = this.#origins.get(borrower.origin)?.idle.pop() ?? this.#open(borrower.origin)
    } catch (error) {
      this.#shares.release(share)
      queueMicrotask(() => borrower.reject(error as Error))
      return
    }
    connection.share = share
    borrower.take(connection)
  }

  #open(url: string): Connection {
    let origin = this.#origins.get(url)
    if (origin === undefined) {
      this.#assertOrigin(url)
      origin = { url, idle: [], size: 0 }
    }
    const client = new Client(url, this.#options)
    if (this.#all.size >= this.#max) this.#closeOldestIdle()
    const connection: Connection = { client, origin, share: undefined, idleSince: 0 }
    // undici's types do not declare this event.
    const emitter: NodeJS.EventEmitter = client
    emitter.on('error', this.#onClientError)
    client.on('disconnect', () => this.#onDisconnect(connection))
    this.#all.add(connection)
    if (origin.size++ === 0) this.#origins.set(url, origin)
    return connection
  }

  /** An idle connection was closed by either side. A lent one is discarded by its borrower, or opened again. */
  #onDisconnect(connection: Connection): void {
    const { idle } = connection.origin
    const at = connection.share === undefined ? idle.indexOf(connection) : -1
    if (at < 0) return
    idle.splice(at, 1)
    this.#close(connection)
  }

  #closeOldestIdle(): void {
    let oldest: Connection | undefined
    for (const { idle } of this.#origins.values()) {
      const [first] = idle
      if (first !== undefined && (oldest === undefined || first.idleSince < oldest.idleSince)) oldest = first
    }
    if (oldest === undefined) return
    oldest.origin.idle.shift()
    this.#close(oldest)
  }

  #close(connection: Connection): void {
    const { client, origin } = connection
    if (!this.#all.delete(connection)) return
    if (--origin.size === 0) this.#origins.delete(origin.url)
    client.destroy().catch(() => {})
  }
}
