import { Client } from 'undici'

/** Something that waits for a connection. */
export interface Borrower {
  /** Called once. It is the borrower's until it is given back. */
  take(connection: Client): void
  /** The connections are closed, and it gets none. */
  refuse(error: Error): void
}

/**
 * The connections to one origin: clients of undici, each of them one connection, opened when it is first needed and again
 * after it was closed. undici's own pool looks through its clients for a free one at every call and tells listeners of every
 * change; here the connection that was used last is used next, so that those that a burst opened time out behind it.
 */
export class Connections {
  readonly #origin: string
  readonly #options: Client.Options
  readonly #most: number
  readonly #all = new Set<Client>()
  readonly #free: Client[] = []
  readonly #waiting: Borrower[] = []
  #isRetired = false

  constructor(origin: string, most: number, options: Client.Options) {
    this.#origin = origin
    this.#most = most
    this.#options = options
  }

  /** Gives the borrower a connection: at once where there is one, else the next that is given back. */
  lend(borrower: Borrower): void {
    const free = this.#free.pop()
    if (free !== undefined) borrower.take(free)
    else if (this.#all.size < this.#most) borrower.take(this.#open())
    else this.#waiting.push(borrower)
  }

  giveBack(connection: Client): void {
    const next = this.#waiting.shift()
    if (next !== undefined) next.take(connection)
    else if (this.#isRetired) this.#close(connection)
    else this.#free.push(connection)
  }

  /** Calls under way are finished, and the connections closed behind them. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#free.splice(0)) this.#close(connection)
  }

  /** Ends all calls. */
  async destroy(): Promise<void> {
    this.#isRetired = true
    for (const each of this.#waiting.splice(0)) each.refuse(new Error('the connections are closed'))
    await Promise.all([...this.#all].map(connection => connection.destroy()))
  }

  #open(): Client {
    const connection = new Client(this.#origin, this.#options)
    this.#all.add(connection)
    return connection
  }

  #close(connection: Client): void {
    this.#all.delete(connection)
    void connection.close()
  }
}
