import { existsSync, rmSync } from 'node:fs'
import { type RecordLine, type RequestRecord, toRecordLine } from '../core/request-record.ts'
import { type Journal, listSegments, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'

export interface DrainOptions {
  readonly folder: string
  readonly journal: Journal
  /** Idempotent. Rejects only where the database is at fault; a record that it can never take is left out. */
  readonly insert: (records: readonly RecordLine[]) => Promise<void>
  readonly log: {
    error(details: object, message: string): void
    warn(details: object, message: string): void
  }
  readonly flushEveryMs?: number
  readonly batchSize?: number
  /** Records held in memory at most; above it they wait in the segments alone. */
  readonly maxQueued?: number
}

/**
 * Carries records from the journal to PostgreSQL behind the request path. What was written this run waits in memory;
 * what a killed run left, or what did not fit, is read back from the segments. Inserting is idempotent, so a record
 * that travels twice counts once. A segment is removed only after all of it is in the database.
 */
export class Drain {
  readonly #options: DrainOptions
  readonly #batchSize: number
  readonly #maxQueued: number
  readonly #timer: NodeJS.Timeout
  #queue: RecordLine[] = []
  /** Segments with records that are in no queue: left by a killed run, or written while the queue was full. */
  #unread: number[]
  #overflowed = false
  #running: Promise<void> | undefined

  constructor(options: DrainOptions) {
    this.#options = options
    this.#batchSize = options.batchSize ?? 500
    this.#maxQueued = options.maxQueued ?? 50_000
    this.#unread = this.#segmentsBehind()
    this.#timer = setInterval(() => {
      if (this.#hasWork()) this.flush().catch(() => {})
    }, options.flushEveryMs ?? 200)
    this.#timer.unref()
  }

  /** Journals the record and queues it. Returns after the kernel has it. */
  write(record: RequestRecord): void {
    const line = toRecordLine(record)
    try {
      this.#options.journal.append(line.json)
    } catch (error) {
      // The answer is already paid for: keep the record in memory and say loudly that a kill would lose it.
      this.#options.log.error({ err: error }, 'the journal refused a record; it waits in memory only')
      this.#queue.push(line)
      return
    }
    if (this.#queue.length < this.#maxQueued) this.#queue.push(line)
    else this.#overflowed = true
  }

  /** Resolves when everything written so far is in the database, or rejects with the database's error. */
  flush(): Promise<void> {
    this.#running ??= this.#drainAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Records not yet in the database, as far as memory knows. */
  backlog(): number {
    return this.#queue.length
  }

  /** Writes what is owed, as far as the database takes it; the rest stays in the journal for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(() => {})
    this.#options.journal.close()
    if (!this.#hasWork()) this.#remove(listSegments(this.#options.folder))
  }

  #hasWork(): boolean {
    return this.#queue.length > 0 || this.#unread.length > 0 || this.#overflowed
  }

  async #drainAll(): Promise<void> {
    try {
      while (this.#hasWork()) {
        if (this.#queue.length > 0) await this.#drainQueue()
        else await this.#drainSegments()
      }
      // With nothing queued or unread, every segment but the current one is in the database.
      this.#remove(this.#segmentsBehind())
    } catch (error) {
      const details = { err: error, backlog: this.#queue.length }
      this.#options.log.error(details, 'usage records could not be written; they wait in the journal')
      throw error
    }
  }

  async #drainQueue(): Promise<void> {
    const batch = this.#queue.slice(0, this.#batchSize)
    await this.#options.insert(batch)
    this.#queue = this.#queue.slice(batch.length)
  }

  async #drainSegments(): Promise<void> {
    const { folder, journal, log } = this.#options
    if (this.#overflowed) {
      this.#overflowed = false
      journal.rotate()
      this.#unread = this.#segmentsBehind()
    }
    for (const sequence of this.#unread) {
      const file = segmentPath(folder, sequence)
      if (!existsSync(file)) continue
      const { records, badLines } = readSegment(file)
      if (badLines > 0) log.warn({ file, badLines }, 'the journal has damaged lines; they were left out')
      for (let at = 0; at < records.length; at += this.#batchSize) {
        await this.#options.insert(records.slice(at, at + this.#batchSize).map(toLine))
      }
      rmSync(file, { force: true })
    }
    this.#unread = []
  }

  /** The segments that are not written any more. */
  #segmentsBehind(): number[] {
    const current = this.#options.journal.current()
    return listSegments(this.#options.folder).filter(sequence => sequence < current)
  }

  #remove(segments: readonly number[]): void {
    for (const sequence of segments) rmSync(segmentPath(this.#options.folder, sequence), { force: true })
  }
}

/** `id` and `at` are a record's first fields: see toRecordLine. */
const HEAD = /^\{"id":"([^"\\]*)","at":"([^"\\]*)"/

/** A line that was written before; its text is not parsed again for the two things that must be known of it. */
function toLine(json: string): RecordLine {
  const head = HEAD.exec(json)
  if (head !== null) return { id: head[1] as string, at: head[2] as string, json }
  const { id, at } = JSON.parse(json) as RequestRecord
  return { id, at, json }
}
