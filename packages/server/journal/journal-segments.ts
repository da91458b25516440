import type { Log } from '../core/log.ts'
import type { RecordLine } from '../core/records/request-record.ts'
import { insertSegment, readEnded } from './insert-segment.ts'
import { type Journal, segmentPath } from './journal.ts'
import type { OpenRequests } from './open-requests.ts'
import type { RecordBatches } from './record-batches.ts'

export interface JournalSegmentsOptions {
  readonly folder: string
  readonly journal: Journal
  readonly batches: Pick<RecordBatches, 'insertAll'>
  /** The requests that are running. */
  readonly opens: Pick<OpenRequests, 'moveFrom' | 'listWithout'>
  readonly log: Pick<Log, 'error' | 'warn'>
  /** As in DrainOptions. */
  readonly runAlone: <T>(work: () => Promise<T>) => Promise<T>
  /** As in DrainOptions. */
  readonly onReplayed: ((records: AsyncIterable<readonly RecordLine[]>) => Promise<void>) | undefined
}

/**
 * The segments of the journal: inserts the records of those that are not in memory, which are the segments of killed runs and those
 * written while the memory was full, and removes segments that are not needed any more.
 */
export class JournalSegments {
  readonly #options: JournalSegmentsOptions
  /** Segments of earlier runs that are not in the database yet. */
  #recovered: number[]
  /** Segments of earlier runs that are in the database and wait for `onReplayed`. */
  #unreported: number[] = []
  /** Resolves once the segments that were reported are removed. */
  #removingReported: Promise<void> = Promise.resolve()
  /** Segments of this run with records that are not in memory. */
  #unread: number[] = []
  /** The first segment, apart from `#unread`, that may have a record that is not in memory; undefined: none has. */
  #overflowedFrom: number | undefined

  constructor(options: JournalSegmentsOptions) {
    this.#options = options
    this.#recovered = this.#listPrevious()
  }

  /** True while segments of killed runs are not in the database. */
  get hasRecovered(): boolean {
    return this.#recovered.length > 0
  }

  /** True while any segment has records that are neither in memory nor in the database. */
  get hasUnread(): boolean {
    return this.hasRecovered || this.#unread.length > 0 || this.hasOverflowed
  }

  /** True from when a record is written that is not in memory until these are read. Further ones must not be kept in memory either. */
  get hasOverflowed(): boolean {
    return this.#overflowedFrom !== undefined
  }

  /** The last segment that may have records that are neither in memory nor in the database; 0: none has. */
  get lastUnread(): number {
    if (this.hasOverflowed) return this.#options.journal.current()
    return this.#unread.at(-1) ?? this.#recovered.at(-1) ?? 0
  }

  /** True if no segment up to this one has records that are neither in memory nor in the database. */
  isStored(segment: number): boolean {
    const first = this.#recovered[0] ?? this.#unread[0] ?? this.#overflowedFrom
    return first === undefined || segment < first
  }

  /** True if a segment up to this one can be read now: it has no record that is in memory. */
  isReadable(segment: number): boolean {
    const [next] = this.#unread
    return next !== undefined && next <= segment
  }

  /** Notes that a record was written to this segment, or a later one, that is not in memory. The first such segment counts. */
  noteOverflow(segment: number): void {
    this.#overflowedFrom ??= segment
  }

  /** Inserts the records of killed runs. A request without a record counts as its open line says. Rejects with the database's error. */
  async insertRecovered(): Promise<void> {
    const { batches, journal, log, runAlone, onReplayed } = this.#options
    const opens = new Map<string, RecordLine>()
    for (const sequence of this.#recovered) await runAlone(() => this.#insert(sequence, opens))
    const cutOff = [...opens.values()]
    if (cutOff.length > 0) {
      log.warn({ requests: cutOff.length }, 'requests were cut off by a kill; their estimates are counted')
      await runAlone(() => batches.insertAll(cutOff))
    }
    const segments = this.#recovered
    this.#recovered = []
    if (onReplayed === undefined) return journal.remove(segments)
    this.#unreported = segments
    onReplayed(readAgain(this.#options.folder, segments, cutOff)).then(
      () => {
        this.#unreported = []
        this.#removingReported = journal.remove(segments)
        return this.#removingReported
      },
      error =>
        log.error({ err: error }, 'the usage of a killed run could not be settled; its journal is kept'),
    )
  }

  /**
   * Makes the segments readable that have been written since the memory was full. Call it while no record is in memory that was written
   * before, or to one of them: it would count as stored and missing. Throws if no further segment can be begun.
   */
  endOverflow(): void {
    if (!this.hasOverflowed) return
    // From here on records may be kept in memory again: they are in a later segment.
    this.#options.journal.rotate()
    this.#unread = this.#listPrevious()
    this.#overflowedFrom = undefined
  }

  /** Inserts the records of a readable segment, removes it, and returns their ids. Rejects with the database's error. */
  async insertNextUnread(): Promise<readonly string[]> {
    const [sequence] = this.#unread
    if (sequence === undefined) return []
    const lines = await this.#insert(sequence, undefined)
    this.#unread.shift()
    // At once: if the memory fills again meanwhile, it would be read again.
    await this.#remove([sequence])
    return lines.map(({ id }) => id)
  }

  /** Removes the segments before `end` whose records were in memory, and are in the database. */
  async removeBefore(end: number): Promise<void> {
    if (this.hasRecovered) return
    const until = Math.min(end, this.#overflowedFrom ?? end)
    await this.#remove(
      this.#listPrevious().filter(segment => segment < until && !this.#unread.includes(segment)),
    )
  }

  /** Removes all segments of a closed journal whose records are in the database and reported. */
  async removeAll(): Promise<void> {
    await this.#options.journal.remove(this.#listReported())
    await this.#removingReported
  }

  #insert(sequence: number, opens: Map<string, RecordLine> | undefined): Promise<readonly RecordLine[]> {
    const { folder, batches, log } = this.#options
    return insertSegment(segmentPath(folder, sequence), { batches, opens, log })
  }

  /** The open lines of running requests are appended again before. Keeps segments with one that cannot be. */
  async #remove(segments: readonly number[]): Promise<void> {
    if (segments.length === 0) return
    const { journal, opens, log } = this.#options
    try {
      await opens.moveFrom(segments)
    } catch (error) {
      log.error({ err: error }, 'a line could not be written to the journal; its old segments are kept')
    }
    await journal.remove(opens.listWithout(segments))
  }

  /** Returns the segments that are no longer written and do not wait for `onReplayed`. */
  #listPrevious(): number[] {
    const current = this.#options.journal.current()
    return this.#listReported().filter(sequence => sequence < current)
  }

  /** Returns all segments that do not wait for `onReplayed`. */
  #listReported(): number[] {
    return this.#options.journal.segments().filter(sequence => !this.#unreported.includes(sequence))
  }
}

/** Yields what a killed run left. Its journal may be larger than the heap, so a segment is read when the one before is settled. */
async function* readAgain(
  folder: string,
  segments: readonly number[],
  cutOff: readonly RecordLine[],
): AsyncGenerator<readonly RecordLine[]> {
  for (const sequence of segments) yield await readEnded(segmentPath(folder, sequence))
  yield cutOff
}
