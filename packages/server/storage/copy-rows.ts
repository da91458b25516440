import type { Connection, PoolClient, Submittable } from 'pg'

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
  readonly #rows: Buffer
  #failure: Error | null = null

  constructor(text: string, rows: Buffer, callback: (error: Error | null) => void) {
    this.#text = text
    this.#rows = rows
    this.callback = callback
  }

  submit(connection: Connection): void {
    ;(connection as CopyConnection).query(this.#text)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#rows)
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
    const { callback } = this
    this.callback = () => {}
    callback(this.#failure)
  }
}

/**
 * Runs the statement, which ends with a COPY ... FROM STDIN, and sends it the rows in PostgreSQL's text format
 * (copy-text.ts). Rejects with the database's error, after which a transaction has to be rolled back.
 */
export function copyRows(client: PoolClient, text: string, rows: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(text, Buffer.from(rows), error => (error === null ? resolve() : reject(error))))
  })
}
