import type { Connection } from './connection.ts'
import { sendInSlices } from './in-slices.ts'

/** The endings that are kept during an outage, each with its request's reservation. */
const MAX_ENDINGS = 10_000

/** A settle or release that the server has not confirmed. */
interface Ending {
  readonly run: string
  readonly send: () => Promise<unknown>
}

/**
 * The settles and releases of this process that the server has not confirmed. Each is sent at once and, where that fails,
 * again when the server is reachable. If an outage leaves more than MAX_ENDINGS, all are forgotten and their runs are not counted
 * on any more: the requests are in the journal, and the counters of another run are seeded with them.
 */
export class UndeliveredEndings {
  readonly #connection: Pick<Connection, 'run' | 'reportFailure' | 'abandon' | 'isAbandoned'>
  /** By request id. */
  readonly #endings = new Map<string, Ending>()

  constructor(connection: Pick<Connection, 'run' | 'reportFailure' | 'abandon' | 'isAbandoned'>) {
    this.#connection = connection
  }

  /** Sends the end of a request whose reservation is known in `run`. Never rejects. */
  send(id: string, run: string, send: () => Promise<unknown>): Promise<void> {
    if (this.#connection.isAbandoned(run)) return Promise.resolve()
    const ending = { run, send }
    this.#endings.set(id, ending)
    const { run: current } = this.#connection
    if (current === undefined) {
      if (this.#endings.size > MAX_ENDINGS) this.#abandonAll()
      return Promise.resolve()
    }
    return this.#sendOne(id, ending, current).catch((error: unknown) => this.#connection.reportFailure(error))
  }

  /** Drops the ending of a request, which goes on. */
  forget(id: string): void {
    this.#endings.delete(id)
  }

  /** Sends all that belongs to this run and drops the rest. Rejects where the server fails again. */
  sendAll(run: string): Promise<void> {
    return sendInSlices([...this.#endings], ([id, ending]) => this.#sendOne(id, ending, run))
  }

  async #sendOne(id: string, ending: Ending, run: string): Promise<void> {
    // One of another run is in the journal, and new counters are seeded with it.
    if (ending.run === run) await ending.send()
    if (this.#endings.get(id) === ending) this.#endings.delete(id)
  }

  #abandonAll(): void {
    for (const { run } of this.#endings.values()) this.#connection.abandon(run)
    this.#endings.clear()
  }
}
