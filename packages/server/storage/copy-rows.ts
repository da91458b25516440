import type { Connection, PoolClient, Submittable } from 'pg'
import { ShortTicks } from './short-ticks.ts'

/** So many rows are turned into bytes at once: 2 MiB if all of them have captured bodies. */
const ROWS_AT_ONCE = 32

/** What pg's connection has for COPY, beyond its types. */
interface CopyConnection extends Connection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** A COPY ... FROM STDIN with all its rows, as pg's client runs it. */
class CopyIn implements Submittable {
  /** pg replaces it by one that also ends its timeout. */
  callback: (error: Error | null) => void
  readonly #text: string
  readonly #rows: readonly string[]
  #failure: Error | null = null
  #isOver = false

  constructor(text: string, rows: readonly string[], callback: (error: Error | null) => void) {
    this.#text = text
    this.#rows = rows
    this.callback = callback
  }

  submit(connection: Connection): void {
    ;(connection as CopyConnection).query(this.#text)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).catch((error: Error) => this.handleError(error))
  }

  /** The database ignores what comes after an error, but a next statement must not come between. */
  async #send(connection: CopyConnection): Promise<void> {
    const ticks = new ShortTicks()
    for (let at = 0; at < this.#rows.length; at += ROWS_AT_ONCE) {
      if (ticks.isOver) await ticks.next()
      if (this.#isOver) return
      connection.sendCopyFromChunk(Buffer.from(`${this.#rows.slice(at, at + ROWS_AT_ONCE).join('\n')}\n`))
    }
    connection.endCopyFrom()
  }

  handleError(error: Error): void {
    this.#failure ??= error
    // No ReadyForQuery follows on a broken connection. Only the first call counts.
    this.#end()
  }

  handleReadyForQuery(): void {
    this.#end()
  }

  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  #end(): void {
    this.#isOver = true
    const { callback } = this
    this.callback = () => {}
    callback(this.#failure)
  }
}

/**
 * Runs the statement, which ends with a COPY ... FROM STDIN, and sends it the rows in PostgreSQL's text format
 * (copy-text.ts), each without the end of its line. Rejects with the database's error, after which a transaction has to be rolled back.
 */
export function copyRows(client: PoolClient, text: string, rows: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(text, rows, error => (error === null ? resolve() : reject(error))))
  })
}
