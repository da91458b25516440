import { setTimeout as wait } from 'node:timers/promises'
import type { Connection, PoolClient, Submittable } from 'pg'
import { ShortTicks } from './short-ticks.ts'

/** So many bytes of rows are sent at once, unless a single row is longer: PostgreSQL needs a millisecond or two for them. */
const BYTES_AT_ONCE = 32 * 1024
/**
 * The time between two pieces, in milliseconds. With a whole batch at once PostgreSQL would keep a core for 20 ms, and the
 * scheduler may let a request that comes to the same core wait for several of them.
 */
const PAUSE_MS = 4
const NEWLINE = 10

/** A row in PostgreSQL's text format (copy-text.ts), without the end of its line. */
export interface Row {
  /** Contains the row from `start` to `end`. */
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

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
  readonly #rows: readonly Row[]
  readonly #isHurried: () => boolean
  #failure: Error | null = null
  #isOver = false

  constructor(
    text: string,
    rows: readonly Row[],
    isHurried: () => boolean,
    callback: (error: Error | null) => void,
  ) {
    this.#text = text
    this.#rows = rows
    this.#isHurried = isHurried
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
    let isFirst = true
    for (const lines of joinRows(this.#rows)) {
      if (ticks.isOver) await ticks.next()
      if (!isFirst && !this.#isHurried()) await wait(PAUSE_MS)
      if (this.#isOver) return
      connection.sendCopyFromChunk(lines)
      isFirst = false
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

/** Yields all rows as whole lines. */
function* joinRows(rows: readonly Row[]): Generator<Buffer> {
  for (let first = 0; first < rows.length; ) {
    let size = 0
    let last = first
    do size += lineBytes(rows[last++] as Row)
    while (last < rows.length && size + lineBytes(rows[last] as Row) <= BYTES_AT_ONCE)
    const lines = Buffer.allocUnsafe(size)
    let at = 0
    for (; first < last; first++) {
      const { bytes, start, end } = rows[first] as Row
      at += bytes.copy(lines, at, start, end)
      lines[at++] = NEWLINE
    }
    yield lines
  }
}

function lineBytes({ start, end }: Row): number {
  return end - start + 1
}

/**
 * Runs the statement, which ends with a COPY ... FROM STDIN, and sends it the rows, with pauses until `isHurried`. Rejects with
 * the database's error, after which a transaction has to be rolled back.
 */
export function copyRows(
  client: PoolClient,
  text: string,
  rows: readonly Row[],
  isHurried: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null): void => (error === null ? resolve() : reject(error))
    client.query(new CopyIn(text, rows, isHurried, callback))
  })
}
