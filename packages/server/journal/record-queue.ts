import type { LineWithRecord, RecordBatch, RecordLine } from '../core/records/request-record.ts'

/** Keeps lines as they are. */
export class LineBatch implements RecordBatch {
  readonly ids: string[] = []
  chars = 0
  readonly #insert: (lines: readonly RecordLine[]) => Promise<void>
  readonly #lines: RecordLine[] = []

  constructor(insert: (lines: readonly RecordLine[]) => Promise<void>) {
    this.#insert = insert
  }

  add({ id, at, json }: RecordLine): void {
    this.ids.push(id)
    this.chars += json.length
    this.#lines.push({ id, at, json })
  }

  insert(): Promise<void> {
    return this.#insert(this.#lines)
  }

  release(): void {
    this.#lines.length = 0
  }
}

export interface RecordQueueOptions {
  readonly openBatch: () => RecordBatch
  /** The most records of a batch, and the most characters of their JSON. A single record may be longer. */
  readonly batchSize: number
  readonly batchChars: number
}

/** The number of records in the queue with which further ones wait as JSON only. The database counts as behind with fewer (drain.ts). */
const MAX_WITH_ROWS = 12_000

/** The records in memory that wait for the database, in batches. */
export class RecordQueue {
  readonly #options: RecordQueueOptions
  #batches: RecordBatch[] = []
  /** For each batch the segment of the journal that was written before its first record, which is there or in a later one. */
  #segments: number[] = []
  /** True if the last batch takes no further records. */
  #isSealed = true
  #length = 0
  #chars = 0

  constructor(options: RecordQueueOptions) {
    this.#options = options
  }

  /** The number of records. */
  get length(): number {
    return this.#length
  }

  /** The number of batches behind the first one, which may be being inserted. */
  get batchesBehindFirst(): number {
    return Math.max(0, this.#batches.length - 1)
  }

  /** True if a batch behind the first one has all the records that it may have. */
  get hasWholeBehindFirst(): boolean {
    const [, second] = this.#batches
    return second !== undefined && (this.#batches.length > 2 || this.#isFull(second))
  }

  /** The length of their JSON together, in characters. */
  get chars(): number {
    return this.#chars
  }

  /** A segment of the journal that no record is before; undefined: the queue is empty. */
  get firstSegment(): number | undefined {
    return this.#segments[0]
  }

  /** Adds a record that is in this segment of the journal or a later one. Returns the batch that it is in. */
  add(line: LineWithRecord, segment: number): RecordBatch {
    const batch = this.#getOpen(line.json.length, segment)
    batch.add(line, this.#length < MAX_WITH_ROWS)
    this.#length++
    this.#chars += line.json.length
    return batch
  }

  /** True if the first batch has all the records that it may have. */
  hasWhole(): boolean {
    const [first] = this.#batches
    return first !== undefined && (this.#batches.length > 1 || this.#isFull(first))
  }

  /** Returns the first batch, to which no further record is added. It stays in the queue until it is removed. */
  sealFirst(): RecordBatch | undefined {
    if (this.#batches.length === 1) this.#isSealed = true
    return this.#batches[0]
  }

  /** Removes the first batch. */
  removeFirst(): void {
    const batch = this.#batches.shift()
    this.#segments.shift()
    if (batch === undefined) return
    this.#length -= batch.ids.length
    this.#chars -= batch.chars
    batch.release()
  }

  /** Returns the ids of all records. */
  listIds(): Set<string> {
    return new Set(this.#batches.flatMap(({ ids }) => ids))
  }

  #getOpen(chars: number, segment: number): RecordBatch {
    const last = this.#batches.at(-1)
    const fits = last !== undefined && !this.#isFull(last) && last.chars + chars <= this.#options.batchChars
    if (fits && !this.#isSealed) return last
    const batch = this.#options.openBatch()
    this.#batches.push(batch)
    this.#segments.push(segment)
    this.#isSealed = false
    return batch
  }

  #isFull({ ids, chars }: RecordBatch): boolean {
    return ids.length >= this.#options.batchSize || chars >= this.#options.batchChars
  }
}
