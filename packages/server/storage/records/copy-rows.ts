import { setTimeout as wait } from 'node:timers/promises'
import type { Connection, PoolClient, Submittable } from 'pg'
import { ShortTicks } from '../../core/short-ticks.ts'
import { COPY_HEADER, COPY_TRAILER } from './row-writer.ts'

/** The bytes of rows that are sent at once, unless a single row is longer. PostgreSQL needs a millisecond or two for them. */
const BYTES_AT_ONCE = 32 * 1024
/**
 * The time between two pieces, in milliseconds. With a whole batch at once PostgreSQL would keep a core for 20 ms, and the
 * scheduler may let a request that comes to the same core wait for several of them.
 */
const PAUSE_MS = 4
/** The number of a row's fields, before them. */
const COUNT_BYTES = 2

/** The fields of a row in PostgreSQL's binary format (row-writer.ts). */
export interface Row {
  /** Contains the fields from `start` to `end`. */
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
  readonly #fields: number
  readonly #rows: readonly Row[]
  readonly #isHurried: () => boolean
  #failure: Error | null = null
  #isOver = false

  constructor(
    text: string,
    fields: number,
    rows: readonly Row[],
    isHurried: () => boolean,
    callback: (error: Error | null) => void,
  ) {
    this.#text = text
    this.#fields = fields
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
    for (const piece of joinRows(this.#rows, this.#fields)) {
      if (ticks.isOver) await ticks.next()
      if (!isFirst && !this.#isHurried()) await wait(PAUSE_MS)
      if (this.#isOver) return
      connection.sendCopyFromChunk(piece)
      isFirst = false
    }
    connection.sendCopyFromChunk(COPY_TRAILER)
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

/** Yields all rows, each with the number of its fields, behind the header. */
function* joinRows(rows: readonly Row[], fields: number): Generator<Buffer> {
  let at = COPY_HEADER.length
  for (let first = 0; first < rows.length; at = 0) {
    let size = at
    let last = first
    do size += rowBytes(rows[last++] as Row)
    while (last < rows.length && size + rowBytes(rows[last] as Row) <= BYTES_AT_ONCE)
    const piece = Buffer.allocUnsafe(size)
    if (first === 0) COPY_HEADER.copy(piece)
    for (; first < last; first++) {
      const { bytes, start, end } = rows[first] as Row
      at = piece.writeInt16BE(fields, at)
      at += bytes.copy(piece, at, start, end)
    }
    yield piece
  }
}

function rowBytes({ start, end }: Row): number {
  return COUNT_BYTES + end - start
}

/**
 * Sends rows of `fields` fields to `target`, a table with its columns, with pauses until `isHurried`. Rejects with the database's
 * error, after which a transaction has to be rolled back.
 */
export function copyRows(
  client: PoolClient,
  target: string,
  fields: number,
  rows: readonly Row[],
  isHurried: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null): void => (error === null ? resolve() : reject(error))
    const text = `copy ${target} from stdin (format binary)`
    client.query(new CopyIn(text, fields, rows, isHurried, callback))
  })
}
