import { existsSync } from 'node:fs'
import { isRefusal, parseRecordLine, toRecordLine, toReducedLine } from '../core/record-line.ts'
import type { RecordLine, RequestRecord } from '../core/request-record.ts'
import { type Journal, listSegments, segmentPath } from './journal.ts'
import { OpenRequests, parseOpenLine, toOpenLine } from './open-requests.ts'
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
  /**
   * What a killed run left is in the database: the records of what ended, and for what did not, what its open line says. The
   * segments stay until it resolves, so that a kill before that tells again. Absent: nobody else has to know.
   */
  readonly onReplayed?: (records: readonly RecordLine[]) => Promise<void>
  readonly flushEveryMs?: number
  /** Records that are inserted at once, and the characters of their lines; one is inserted however long it is. */
  readonly batchSize?: number
  readonly batchChars?: number
  /** Records held in memory at most, and the characters of their lines; above it they wait in the segments alone. */
  readonly maxQueued?: number
  readonly maxQueuedChars?: number
  /** Above it the journal is full. Bytes; absent: it never is. */
  readonly maxBytes?: number
}

/** This part of a journal is for requests that somebody pays for: where it begins, refused ones leave no record. */
const SHED_REFUSALS_AT = 3 / 4
/** What is told of a replayed record needs no more: longer lines are told without their texts. Characters. */
const TOLD_CHARS = 4096

/** Somebody who asks the database while nothing is written to it. */
interface Visitor {
  /** Comes after so many records of the queue were inserted. */
  readonly after: number
  readonly visit: (missing: ReadonlySet<string>) => Promise<void>
  readonly fail: (error: unknown) => void
}

/**
 * Carries records from the journal to PostgreSQL behind the request path. What was written this run waits in memory;
 * what a killed run left, or what did not fit, is read back from the segments. Inserting is idempotent, so a record
 * that travels twice counts once. A segment is removed only after all of it is in the database.
 *
 * A request that was opened and never ended was cut off by a kill: the next start inserts what its open line says.
 */
export class Drain {
  readonly #options: DrainOptions
  readonly #batchSize: number
  readonly #batchChars: number
  readonly #maxQueued: number
  readonly #maxQueuedChars: number
  readonly #timer: NodeJS.Timeout
  readonly #opens: OpenRequests
  /** Records whose lines are still to be made. */
  #unwritten: RequestRecord[] = []
  #writing: Promise<void> | undefined
  #queue: RecordLine[] = []
  /** Of the lines in the queue. */
  #queuedChars = 0
  /** Refused requests that left no record. */
  #shed = 0
  /** Records that were inserted from the queue. */
  #inserted = 0
  #visitors: Visitor[] = []
  /** Segments that a killed run left. */
  #left: number[]
  /** Those of them that are in the database, and that somebody has still to be told of. */
  #untold: number[] = []
  /** Segments of this run with records that are in no queue, written while it was full. */
  #unread: number[] = []
  #overflowed = false
  #running: Promise<void> | undefined

  constructor(options: DrainOptions) {
    this.#options = options
    this.#batchSize = options.batchSize ?? 500
    this.#batchChars = options.batchChars ?? 4 * 1024 * 1024
    this.#maxQueued = options.maxQueued ?? 50_000
    this.#maxQueuedChars = options.maxQueuedChars ?? 64 * 1024 * 1024
    this.#opens = new OpenRequests(options.journal)
    this.#left = this.#segmentsBehind()
    this.#timer = setInterval(() => {
      try {
        if (this.#hasWork()) this.flush().catch(() => {})
      } catch (error) {
        options.log.error({ err: error }, 'usage records could not be flushed')
      }
    }, options.flushEveryMs ?? 200)
    this.#timer.unref()
  }

  /**
   * Journals what a request will count as if this process is killed before it ends. Returns after the kernel has it;
   * throws where the disk refuses: nothing was spent yet.
   */
  open(estimate: RequestRecord): void {
    this.#opens.add(estimate.id, toOpenLine(toRecordLine(estimate)))
  }

  /**
   * Journals the record and queues it. Resolves after the kernel has it, and never rejects. Requests that are as far
   * as this one in the same turn of the event loop (http/batch-in-tick.ts) write theirs in the same call. Where the journal is
   * nearly full the record of a refused request is counted and left out: it must not be what paid requests are refused for.
   */
  write(record: RequestRecord): Promise<void> {
    if (this.#isNearlyFull() && isRefusal(record) && !this.#opens.has(record.id)) {
      this.#shed++
      return Promise.resolve()
    }
    this.#unwritten.push(record)
    this.#writing ??= Promise.resolve().then(() => this.#writeAll())
    return this.#writing
  }

  #writeAll(): void {
    if (this.#unwritten.length === 0) return
    const records = this.#unwritten
    this.#unwritten = []
    this.#writing = undefined
    const lines = records.map(toRecordLine)
    let isRefused = false
    try {
      this.#options.journal.append(...lines.map(({ json }) => json))
    } catch (error) {
      // The answers are already paid for: keep the records in memory and say loudly that a kill would lose them.
      isRefused = true
      const details = { err: error, records: lines.length }
      this.#options.log.error(details, 'the journal refused records; they wait in memory only')
    }
    for (const [at, line] of lines.entries()) {
      this.#opens.remove(line.id)
      // Nobody paid for it, and memory has no bound here.
      if (isRefused && isRefusal(records[at] as RequestRecord)) this.#shed++
      else if (
        isRefused ||
        (this.#queue.length < this.#maxQueued && this.#queuedChars < this.#maxQueuedChars)
      ) {
        this.#queue.push(line)
        this.#queuedChars += line.json.length
      } else this.#overflowed = true
    }
  }

  /**
   * Runs `ask` when everything written before the call is in the database, and inserts nothing until it is done.
   * `missing` names the records that are not in it. Rejects where the database cannot be reached.
   */
  visit<T>(ask: (missing: ReadonlySet<string>) => Promise<T>): Promise<T> {
    this.#writeAll()
    const after = this.#inserted + this.#queue.length
    const visited = new Promise<T>((resolve, reject) => {
      const visit = (missing: ReadonlySet<string>): Promise<void> => ask(missing).then(resolve, reject)
      this.#visitors.push({ after, visit, fail: reject })
    })
    this.flush().catch(() => {})
    return visited
  }

  /** Resolves when everything written so far is in the database, or rejects with the database's error. */
  flush(): Promise<void> {
    this.#writeAll()
    this.#running ??= this.#drainAll().finally(() => {
      this.#running = undefined
      // Who came after the last look is not left waiting.
      if (this.#visitors.length > 0) this.flush().catch(() => {})
    })
    return this.#running
  }

  /** Records not yet in the database, as far as memory knows. */
  backlog(): number {
    return this.#queue.length
  }

  /** Refused requests whose records were left out, since the start. */
  shed(): number {
    return this.#shed
  }

  /** Does what waits for the database take more than the journal may? */
  isFull(): boolean {
    const { journal, maxBytes } = this.#options
    return maxBytes !== undefined && journal.bytes() >= maxBytes
  }

  #isNearlyFull(): boolean {
    const { journal, maxBytes } = this.#options
    return maxBytes !== undefined && journal.bytes() >= maxBytes * SHED_REFUSALS_AT
  }

  /** Writes what is owed, as far as the database takes it; the rest stays in the journal for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(() => {})
    this.#writeAll()
    this.#options.journal.close()
    // Whoever is still open then never ended: the next start finds it.
    if (!this.#hasWork() && this.#opens.size === 0) this.#remove(this.#toldSegments())
  }

  #hasWork(): boolean {
    return this.#queue.length > 0 || this.#hasUnread()
  }

  #hasUnread(): boolean {
    return this.#left.length > 0 || this.#unread.length > 0 || this.#overflowed
  }

  async #drainAll(): Promise<void> {
    try {
      for (;;) {
        await this.#receiveVisitors()
        if (this.#left.length > 0) await this.#drainLeft()
        else if (this.#queue.length > 0) await this.#drainQueue()
        else if (this.#hasUnread()) await this.#drainSegments()
        else if (this.#visitors.length === 0) break
      }
      // With nothing queued or unread, every segment but the current one is in the database.
      this.#removeDone()
    } catch (error) {
      for (const { fail } of this.#visitors.splice(0)) fail(error)
      const details = { err: error, backlog: this.#queue.length }
      this.#options.log.error(details, 'usage records could not be written; they wait in the journal')
      throw error
    }
  }

  /** All at once who may come now; who has to wait for more keeps waiting. */
  async #receiveVisitors(): Promise<void> {
    if (this.#visitors.length === 0 || this.#hasUnread()) return
    const ready = this.#visitors.filter(({ after }) => after <= this.#inserted)
    if (ready.length === 0) return
    this.#visitors = this.#visitors.filter(({ after }) => after > this.#inserted)
    const missing = new Set(this.#queue.map(({ id }) => id))
    await Promise.all(ready.map(({ visit }) => visit(missing)))
  }

  async #drainQueue(): Promise<void> {
    const batch = this.#takeBatch(this.#queue, 0)
    await this.#options.insert(batch)
    this.#queue = this.#queue.slice(batch.length)
    for (const { json } of batch) this.#queuedChars -= json.length
    this.#inserted += batch.length
  }

  /** What a killed run left: what ended once, and what never did as its open line says. */
  async #drainLeft(): Promise<void> {
    const { onReplayed, log } = this.#options
    const opens = new Map<string, RecordLine>()
    const records: RecordLine[] = []
    for (const sequence of this.#left) {
      const ended = await this.#drainSegment(sequence, opens)
      if (onReplayed !== undefined) for (const line of ended) records.push(toTold(line))
    }
    if (opens.size > 0) {
      log.warn({ requests: opens.size }, 'requests were cut off; they count as estimated')
      await this.#insertAll([...opens.values()])
    }
    const segments = this.#left
    this.#left = []
    if (onReplayed === undefined) return this.#remove(segments)
    for (const line of opens.values()) records.push(toTold(line))
    this.#untold = segments
    onReplayed(records).then(
      () => {
        this.#untold = []
        this.#remove(segments)
      },
      error => log.error({ err: error }, 'what a killed run left could not be told; its journal stays'),
    )
  }

  async #drainSegments(): Promise<void> {
    if (this.#overflowed) {
      this.#overflowed = false
      this.#options.journal.rotate()
      this.#unread = this.#segmentsBehind()
    }
    for (const sequence of this.#unread) await this.#drainSegment(sequence, undefined)
    this.#unread = []
  }

  /** `opens` collects the requests that have not ended so far, by id; undefined: they run in this process. Gives what ended. */
  async #drainSegment(
    sequence: number,
    opens: Map<string, RecordLine> | undefined,
  ): Promise<readonly RecordLine[]> {
    const { folder, log } = this.#options
    const file = segmentPath(folder, sequence)
    if (!existsSync(file)) return []
    const { records, badLines } = readSegment(file)
    if (badLines > 0) log.warn({ file, badLines }, 'the journal has damaged lines; they were left out')
    const ended: RecordLine[] = []
    for (const json of records) {
      const opened = parseOpenLine(json)
      if (opened === undefined) ended.push(parseRecordLine(json))
      else if (opens !== undefined) {
        const line = parseRecordLine(opened)
        opens.set(line.id, line)
      }
    }
    await this.#insertAll(ended)
    if (opens !== undefined) for (const { id } of ended) opens.delete(id)
    return ended
  }

  async #insertAll(lines: readonly RecordLine[]): Promise<void> {
    for (let at = 0; at < lines.length; ) {
      const batch = this.#takeBatch(lines, at)
      await this.#options.insert(batch)
      at += batch.length
    }
  }

  /** One line at least. */
  #takeBatch(lines: readonly RecordLine[], at: number): RecordLine[] {
    const batch: RecordLine[] = []
    let chars = 0
    for (let next = at; next < lines.length && batch.length < this.#batchSize; next++) {
      const line = lines[next] as RecordLine
      chars += line.json.length
      if (chars > this.#batchChars && batch.length > 0) break
      batch.push(line)
    }
    return batch
  }

  /** Requests that run take their open lines along. */
  #removeDone(): void {
    const { journal, maxBytes } = this.#options
    try {
      // What is in the database already must not fill the journal: its segment ends here, and goes.
      if (maxBytes !== undefined && journal.bytes() > maxBytes / 2) journal.rotate()
    } catch (error) {
      this.#options.log.error({ err: error }, 'the journal could not begin a segment')
    }
    const done = this.#segmentsBehind()
    if (done.length === 0) return
    try {
      this.#opens.moveFrom(done)
    } catch (error) {
      this.#options.log.error({ err: error }, 'the journal refused a line; its old segments stay')
      return
    }
    this.#remove(done)
  }

  /** The segments that are not written any more. */
  #segmentsBehind(): number[] {
    const current = this.#options.journal.current()
    return this.#toldSegments().filter(sequence => sequence < current)
  }

  /** All but those that somebody has still to be told of. */
  #toldSegments(): number[] {
    return listSegments(this.#options.folder).filter(sequence => !this.#untold.includes(sequence))
  }

  #remove(segments: readonly number[]): void {
    this.#options.journal.remove(segments)
  }
}

/** What a killed run left is held until it was told, all at once: without what may be long. */
function toTold(line: RecordLine): RecordLine {
  return line.json.length <= TOLD_CHARS ? line : (toReducedLine(line) ?? line)
}
