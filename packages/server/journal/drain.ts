import { LogPace } from '../core/log-pace.ts'
import { isRefusal, isUnbilled, toSalvagedLine } from '../core/records/record-line.ts'
import type { LineWithRecord, RecordLine, RequestRecord } from '../core/records/request-record.ts'
import { Barriers, type JournalPosition } from './barriers.ts'
import { BodyShares } from './body-shares.ts'
import type { DrainOptions } from './drain-options.ts'
import { JournalSegments } from './journal-segments.ts'
import { JournalSpace } from './journal-space.ts'
import { OpenRequests, toOpenLine } from './open-requests.ts'
import { RecordBatches } from './record-batches.ts'
import { LineBatch, RecordQueue } from './record-queue.ts'
import { UnjournaledLines } from './unjournaled-lines.ts'
import { WaitingRefusals } from './waiting-refusals.ts'

/** The characters of lines in memory only with which no further request may begin: a kill would lose them. */
const MAX_UNJOURNALED_CHARS = 1024 * 1024

/** The number of batches that wait with which the database has fallen behind: a second or two of a busy gateway. */
const BATCHES_BEHIND = 20

/** In milliseconds. A batch takes about 50 where the database's process has a processor to itself. */
const SLOW_BATCH_MS = 500

/**
 * Writes the records of the journal to PostgreSQL, outside the request path. Records of this run are queued in memory;
 * those of a killed run, and those that do not fit in memory, are read from the segments. Inserting is idempotent, so a
 * record that is inserted twice counts once. A segment is removed once all its records are in the database.
 *
 * A request with an open line and no record was cut off by a kill. The next start inserts the record of its open line.
 */
export class Drain {
  readonly #options: DrainOptions
  readonly #batches: RecordBatches
  readonly #maxQueued: number
  readonly #maxQueuedChars: number
  readonly #timer: NodeJS.Timeout
  readonly #opens: OpenRequests
  readonly #segments: JournalSegments
  /** Records that are not in the journal yet. */
  #unwritten: RequestRecord[] = []
  #writing: Promise<void> | undefined
  readonly #refusals = new WaitingRefusals(records => this.#append(records))
  readonly #queue: RecordQueue
  /** Lines of the queue that are not in the journal, because it could not be written. */
  readonly #unjournaled: UnjournaledLines
  readonly #uninsertedPace = new LogPace()
  readonly #space: JournalSpace
  readonly #bodies: BodyShares
  /** Unbilled requests that left no record. */
  #shed = 0
  /** Records that were inserted from the queue. */
  #inserted = 0
  /** The number of records of the queue that are inserted at once. Later ones wait for a whole batch or the next flush. */
  #due = 0
  /** Before this segment all were removed that could be. */
  #removedBefore = 0
  /** The number of records of the queue that are inserted before the overflow ends: later ones are in later segments. */
  #beforeUnread = 0
  /** When the insert of the batch that is being inserted began, by performance.now. */
  #insertingSince = Number.POSITIVE_INFINITY
  readonly #barriers = new Barriers(
    ({ queued, segment }) => queued <= this.#inserted && this.#segments.isStored(segment),
  )
  #isClosing = false
  #running: Promise<void> | undefined

  constructor(options: DrainOptions) {
    this.#options = options
    const { insert, batchSize = 500, batchChars = 4 * 1024 * 1024 } = options
    this.#batches = new RecordBatches({ insert, batchSize, batchChars })
    const openBatch = options.openBatch ?? (() => new LineBatch(insert))
    this.#queue = new RecordQueue({ openBatch, batchSize, batchChars })
    this.#maxQueued = options.maxQueued ?? 50_000
    this.#maxQueuedChars = options.maxQueuedChars ?? 64 * 1024 * 1024
    this.#space = new JournalSpace(options.journal, options.maxBytes ?? Number.POSITIVE_INFINITY)
    this.#bodies = new BodyShares({
      maxChars: this.#maxQueuedChars,
      countChars: () => this.#queue.chars,
      hasUnread: () => this.#segments.hasUnread,
    })
    this.#opens = new OpenRequests(options.journal)
    this.#unjournaled = new UnjournaledLines(options.journal, options.log, id => this.#opens.remove(id))
    const { folder, journal, log, runAlone = work => work(), onReplayed } = options
    this.#segments = new JournalSegments({
      folder,
      journal,
      batches: this.#batches,
      opens: this.#opens,
      log,
      runAlone,
      onReplayed,
    })
    this.#timer = setInterval(() => {
      try {
        this.#unjournaled.appendAgain()
        if (this.#hasWork()) this.insertDue().catch(() => {})
      } catch (error) {
        options.log.error({ err: error }, 'usage records could not be flushed')
      }
    }, options.flushEveryMs ?? 200)
    this.#timer.unref()
  }

  /**
   * Journals the record that counts if this process is killed before the request ends. The line is in the kernel when it
   * returns. Throws if it cannot be written: the provider was not called yet, so the request can be refused.
   */
  open(estimate: RequestRecord): void {
    this.#opens.add(estimate.id, toOpenLine(this.#toWholeLine(estimate)))
  }

  /**
   * Journals the record and queues it. Resolves once the line is in the kernel, and never rejects. Requests that end in the
   * same tick of the event loop (http/fairness/batch-in-tick.ts) share one write. If the journal is nearly full, the record of an
   * unbilled request is counted and left out, so that free requests cannot fill the journal for those that cost something.
   */
  write(record: RequestRecord): Promise<void> {
    if (!this.#opens.has(record.id)) {
      if (!this.#space.hasRoomFor(record)) {
        this.#shed++
        return Promise.resolve()
      }
      if (isRefusal(record)) return this.#refusals.add(record)
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
    this.#append(records)
  }

  #append(records: readonly RequestRecord[]): void {
    const lines = records.map(record => this.#toLine(record))
    // A write may begin a further segment.
    const segment = this.#options.journal.current()
    let isUnwritten = false
    try {
      this.#options.journal.append(...lines.map(({ json }) => json))
    } catch (error) {
      // The providers were already called: keep the records in memory and log that a kill would lose them.
      isUnwritten = true
      this.#unjournaled.logFailure(error, lines.length)
    }
    for (const [at, line] of lines.entries()) {
      // These records are not limited in number, so unbilled requests leave none.
      const isShed = isUnwritten && isUnbilled(records[at] as RequestRecord)
      // The open line of a record that is in memory only is needed until the record is safe.
      if (!isUnwritten || isShed) this.#opens.remove(line.id)
      if (isShed) this.#shed++
      else if (isUnwritten) this.#addUnjournaled(line, segment)
      else if (this.#hasRoom()) this.#queue.add(line, segment)
      else this.#noteOverflow(line, segment)
    }
  }

  /** A part of a failed write, or the next try, may be in a segment with an overflow: it must not be read before. */
  #addUnjournaled(line: LineWithRecord, segment: number): void {
    this.#unjournaled.add(this.#queue.add(line, segment), line)
    if (this.#segments.hasOverflowed) this.#beforeUnread = this.#end
  }

  #hasRoom(): boolean {
    if (this.#segments.hasOverflowed) return false
    return this.#queue.length < this.#maxQueued && this.#queue.chars < this.#maxQueuedChars
  }

  /** What is in memory is inserted first: the segments contain it too. */
  #noteOverflow({ id }: RecordLine, segment: number): void {
    this.#barriers.noteLater(id)
    if (this.#segments.hasOverflowed) return
    this.#segments.noteOverflow(segment)
    this.#beforeUnread = this.#end
  }

  /** The number of records that have come to the queue. */
  get #end(): number {
    return this.#inserted + this.#queue.length
  }

  /** Returns a line for every record, so that one without a whole line holds up none of the others. */
  #toLine(record: RequestRecord): LineWithRecord {
    try {
      const line = this.#toWholeLine(record)
      this.#bodies.note(record.org_id, line.json.length)
      return line
    } catch (error) {
      const details = { err: error, id: record.id }
      this.#options.log.error(details, 'a usage record has no JSON and is stored without its texts')
      return { ...toSalvagedLine(record), record: undefined }
    }
  }

  #toWholeLine(record: RequestRecord): LineWithRecord {
    return this.#space.toLine(record, this.#bodies.isUsedUp(record.org_id))
  }

  /**
   * Runs `read` once every record written before this call is in the database, and inserts nothing while it runs.
   * `missing` contains the ids of later records, which are not in the database. Rejects if the database is unavailable, and with
   * the signal's reason if that comes before the read.
   */
  afterFlush<T>(read: (missing: ReadonlySet<string>) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const result = this.#barriers.add(this.#takePosition(), read, signal)
    this.insertDue().catch(() => {})
    return result
  }

  /** Resolves once every record written so far is in the database. Rejects with the database's error. */
  flush(): Promise<void> {
    const result = this.#barriers.wait(this.#takePosition())
    this.insertDue().catch(() => {})
    return result
  }

  #takePosition(): JournalPosition {
    this.#writeAll()
    return { queued: this.#end, segment: this.#segments.lastUnread }
  }

  /** Inserts every record written so far, without haste. May go on for as long as further ones come. Rejects as `flush` does. */
  insertDue(): Promise<void> {
    this.#writeAll()
    this.#due = this.#end
    this.#running ??= this.#insertAll().finally(() => {
      this.#running = undefined
      // A barrier may have been added after the last check.
      if (!this.#barriers.isEmpty) this.insertDue().catch(() => {})
    })
    return this.#running
  }

  /** Returns the number of queued records, which are not in the database yet. */
  backlog(): number {
    return this.#queue.length
  }

  /** Returns the number of unbilled requests without a record, since the start. Records without their bodies are not counted. */
  shed(): number {
    return this.#shed
  }

  /**
   * True if the records that wait for the database take `maxBytes` or more, or if the journal cannot be written and a kill
   * would lose more than a few records.
   */
  isFull(): boolean {
    return this.#unjournaled.chars >= MAX_UNJOURNALED_CHARS || this.#space.isFull()
  }

  /** True if the organization's own records take its share of the space that is left in a nearly full journal. */
  isFullFor(orgId: string): boolean {
    return this.#space.isFullFor(orgId)
  }

  /** True if records that are in memory only take as much as may be queued. */
  isMemoryFull(): boolean {
    return this.#unjournaled.chars >= this.#maxQueuedChars
  }

  /** Writes the remaining records. If the database is unavailable, they stay in the journal for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosing = true
    this.#refusals.writeAll()
    const isInserted = await this.insertDue().then(
      () => true,
      () => false,
    )
    // A run that had just come to its end has not seen what was written last.
    if (isInserted && this.#hasWork()) await this.insertDue().catch(() => {})
    this.#refusals.writeAll()
    this.#writeAll()
    this.#unjournaled.appendAgain()
    this.#options.journal.close()
    // A request that is still open was cut off: its segment stays for the next start.
    if (!this.#hasWork() && this.#opens.size === 0) await this.#segments.removeAll()
  }

  #hasWork(): boolean {
    return this.#queue.length > 0 || this.#segments.hasUnread
  }

  async #insertAll(): Promise<void> {
    try {
      for (;;) {
        await this.#runBarriers()
        if (this.#segments.hasRecovered) await this.#segments.insertRecovered()
        else if (this.#isSegmentDue()) await this.#insertSegment()
        else if (this.#isQueueDue()) await this.#insertBatch()
        else if (this.#barriers.isEmpty) {
          await this.#removeDone()
          // One that could not be removed is listed again: it waits for the next flush.
          if (!this.#isQueueDue() && !this.#segments.hasUnread && this.#barriers.isEmpty) break
        }
      }
    } catch (error) {
      this.#barriers.failAll(error)
      this.#logUninserted(error)
      throw error
    }
  }

  #logUninserted(err: unknown): void {
    const message = 'usage records could not be written; they wait in the journal'
    if (this.#uninsertedPace.isDue(performance.now()))
      this.#options.log.error({ err, backlog: this.#queue.length }, message)
  }

  /** Runs the barriers whose records are in the database. */
  async #runBarriers(): Promise<void> {
    if (!this.#barriers.hasReady) return
    await this.#removeDone()
    // A record of this tick was settled already.
    this.#writeAll()
    await this.#barriers.runReady(() => this.#queue.listIds())
  }

  /** In turns with the queue, so that neither waits for ever. A segment that a read waits for goes before later records. */
  #isSegmentDue(): boolean {
    if (!this.#segments.hasUnread) return false
    return this.#inserted >= this.#beforeUnread || this.#segments.isReadable(this.#barriers.firstSegment)
  }

  /**
   * A transaction costs PostgreSQL as much as a hundred rows. So records that come while one runs are collected: they wait for
   * a whole batch or the next flush. Those that an unread segment waits for are due at once.
   */
  #isQueueDue(): boolean {
    if (this.#queue.length === 0) return false
    return this.#inserted < this.#due || this.#isClosing || this.#queue.hasWhole() || this.#segments.hasUnread
  }

  /** True if something waits for the records that are being inserted: another whole batch, a read, or the end. */
  isHurried(): boolean {
    return this.#queue.hasWholeBehindFirst || this.#mustEmpty()
  }

  /** True if the database falls behind: many batches wait, one takes long, or something waits for all records. */
  isBehind(): boolean {
    const { batchesBehindFirst, chars } = this.#queue
    if (batchesBehindFirst >= BATCHES_BEHIND || chars >= this.#maxQueuedChars / 2) return true
    return performance.now() - this.#insertingSince > SLOW_BATCH_MS || this.#mustEmpty()
  }

  /** True if a read waits, records do not fit in memory, or the process ends. */
  #mustEmpty(): boolean {
    return !this.#barriers.isEmpty || this.#isClosing || this.#segments.hasUnread
  }

  async #insertBatch(): Promise<void> {
    const batch = this.#queue.sealFirst()
    if (batch === undefined) return
    this.#insertingSince = performance.now()
    try {
      await batch.insert(() => this.isHurried())
    } finally {
      this.#insertingSince = Number.POSITIVE_INFINITY
    }
    this.#inserted += batch.ids.length
    this.#unjournaled.forget(batch)
    this.#queue.removeFirst()
    // A busy gateway's queue may never be empty.
    if (this.#firstSegment() > this.#removedBefore) await this.#removeDone()
  }

  /** Inserts a segment that is not in memory. What came meanwhile goes before the next one, so that neither waits for ever. */
  async #insertSegment(): Promise<void> {
    if (this.#inserted >= this.#beforeUnread) this.#segments.endOverflow()
    this.#barriers.noteStored(await this.#segments.insertNextUnread())
    this.#beforeUnread = this.#end
  }

  /** A segment that no record of the queue is before. */
  #firstSegment(): number {
    return this.#queue.firstSegment ?? this.#options.journal.current()
  }

  /** Removes the segments all of whose records are in the database. */
  async #removeDone(): Promise<void> {
    const { journal, maxBytes, log } = this.#options
    try {
      // Records that are in the database must not fill the journal: end their segment, so that it can be removed.
      if (maxBytes !== undefined && journal.bytes() > maxBytes / 2) journal.rotate()
    } catch (error) {
      log.error({ err: error }, 'the journal could not begin a segment')
    }
    this.#removedBefore = this.#firstSegment()
    await this.#segments.removeBefore(this.#removedBefore)
  }
}
