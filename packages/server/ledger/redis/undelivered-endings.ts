import type { Connection } from './connection.ts'

/** A settle or release that the server has not confirmed. */
interface Ending {
  readonly run: string
  readonly send: () => Promise<unknown>
}

/**
 * The settles and releases of this process that the server has not confirmed. Each is sent at once and, where that fails,
 * again when the server is reachable.
 */
export class UndeliveredEndings {
  readonly #connection: Pick<Connection, 'run' | 'reportFailure'>
  /** By request id. */
  readonly #endings = new Map<string, Ending>()

  constructor(connection: Pick<Connection, 'run' | 'reportFailure'>) {
    this.#connection = connection
  }

  /** Sends the end of a request whose reservation is known in `run`. Never rejects. */
  send(id: string, run: string, send: () => Promise<unknown>): Promise<void> {
    this.#endings.set(id, { run, send })
    return this.#sendOne(id)
  }

  /** Drops the ending of a request, which goes on. */
  forget(id: string): void {
    this.#endings.delete(id)
  }

  /** Resolves when each ending was sent once more, successfully or not. */
  async sendAll(): Promise<void> {
    await Promise.all([...this.#endings.keys()].map(id => this.#sendOne(id)))
  }

  /** Sends what belongs to this run before it is counted on. Rejects where the server fails again. */
  async sendBeforeOpening(run: string): Promise<void> {
    await Promise.all(
      [...this.#endings].map(async ([id, ending]) => {
        // An ending of another run is in the journal, and new counters are seeded with it.
        if (ending.run === run) await ending.send()
        this.#endings.delete(id)
      }),
    )
  }

  #sendOne(id: string): Promise<void> {
    const ending = this.#endings.get(id)
    const { run } = this.#connection
    if (ending === undefined || run === undefined) return Promise.resolve()
    const forget = (): void => {
      this.#endings.delete(id)
    }
    if (ending.run !== run) return Promise.resolve(forget())
    return ending.send().then(forget, (error: unknown) => this.#connection.reportFailure(error))
  }
}
