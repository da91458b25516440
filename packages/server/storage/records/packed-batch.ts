import type { Pool } from 'pg'
import { parseRecordLine } from '../../core/records/record-line.ts'
import type {
  LineWithRecord,
  RecordBatch,
  RecordLine,
  RequestRecord,
} from '../../core/records/request-record.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import { ChunkPool } from './chunk-pool.ts'
import { createPartitions } from './partitions.ts'
import { parseRecordJson, RecordEncoder, type RowPlaces } from './record-encoder.ts'
import { dayOf, isDataError } from './request-logs.ts'
import { MAX_UNIT_BYTES } from './row-writer.ts'
import { UnstorableValue } from './storable.ts'
import { isStoredAlready, type StoredRows, storeNew } from './store-batch.ts'
import { TextChunks } from './text-chunks.ts'
import { UsageSums } from './usage-sums.ts'

/** Where a record's JSON and rows are, as numbers of 32 bits: objects would be copied by the garbage collector too. */
const Field = {
  jsonChunk: 0,
  jsonStart: 1,
  jsonEnd: 2,
  rowsChunk: 3,
  rowsStart: 4,
  usageEnd: 5,
  logEnd: 6,
  day: 7,
}
const FIELDS = Object.keys(Field).length
/** The chunk of rows that are not encoded yet. */
const NO_CHUNK = -1
const FIRST_RECORDS = 512

export interface PackedBatchDeps {
  readonly pool: Pool
  /** Inserts lines one by one if need be, so that a record that the database refuses holds up no other. */
  readonly insertLines: (lines: readonly RecordLine[]) => Promise<void>
}

/** Returns what opens batches that share their memory one after the other. */
export function openPackedBatches(deps: PackedBatchDeps): () => RecordBatch {
  const chunks = new ChunkPool()
  return () => new PackedBatch(deps, chunks)
}

/**
 * Records that wait for the database as bytes outside of V8's heap: their JSON, and the rows of short ones. As strings and
 * objects they outlived a garbage collection or two, and copying them held up the requests that came in between. What the
 * rollups need of them is added up at once.
 */
class PackedBatch implements RecordBatch {
  readonly ids: string[] = []
  chars = 0
  readonly #deps: PackedBatchDeps
  readonly #texts: TextChunks
  readonly #encoder = new RecordEncoder()
  readonly #sums = new UsageSums()
  readonly #days: string[] = []
  /** The fields of each record, one record after the other. */
  #places = new Int32Array(FIRST_RECORDS * FIELDS)
  /** True if a record has rows that cannot be stored. Inserting the lines tells which. */
  #hasUnstorableRow = false

  constructor(deps: PackedBatchDeps, chunks: ChunkPool) {
    this.#deps = deps
    this.#texts = new TextChunks(chunks)
  }

  add({ id, json, record }: LineWithRecord, keepsRows: boolean): void {
    const place = this.#grow(id)
    this.chars += json.length
    this.#texts.reserve(json.length * MAX_UNIT_BYTES)
    this.#places[place + Field.jsonChunk] = this.#texts.number
    this.#places[place + Field.jsonStart] = this.#texts.end
    this.#places[place + Field.jsonEnd] = this.#texts.add(json)
    this.#places[place + Field.rowsChunk] = NO_CHUNK
    if (record === undefined || !keepsRows) return
    try {
      this.#addRows(place, record, this.#encoder.encodeKept(record, json, this.#texts))
    } catch {
      this.#hasUnstorableRow = true
    }
  }

  async insert(isHurried: () => boolean): Promise<void> {
    const { pool, insertLines } = this.#deps
    await this.#encodeRest()
    try {
      if (!this.#hasUnstorableRow) {
        await createPartitions(pool, this.#days)
        return await storeNew(pool, this.#listRows(), this.#sums.list(), isHurried)
      }
    } catch (error) {
      if (!isDataError(error) && !isStoredAlready(error)) throw error
    }
    await insertLines(this.ids.map((_, index) => parseRecordLine(this.#jsonAt(index * FIELDS))))
  }

  release(): void {
    this.#texts.release()
  }

  /** Returns where the fields of a new record begin. */
  #grow(id: string): number {
    const place = (this.ids.push(id) - 1) * FIELDS
    if (place < this.#places.length) return place
    const larger = new Int32Array(this.#places.length * 2)
    larger.set(this.#places)
    this.#places = larger
    return place
  }

  #read(place: number, field: number): number {
    return this.#places[place + field] as number
  }

  #jsonAt(place: number): string {
    const chunk = this.#texts.chunk(this.#read(place, Field.jsonChunk))
    return chunk.toString('utf8', this.#read(place, Field.jsonStart), this.#read(place, Field.jsonEnd))
  }

  /** Throws if a time or an amount is invalid. */
  #addRows(place: number, record: RequestRecord, { start, usageEnd, logEnd }: RowPlaces): void {
    this.#places[place + Field.rowsStart] = start
    this.#places[place + Field.usageEnd] = usageEnd
    this.#places[place + Field.logEnd] = logEnd
    this.#places[place + Field.day] = this.#numberDay(record.at)
    this.#sums.add(record)
    // Last, so that a record without it has no sums either.
    this.#places[place + Field.rowsChunk] = this.#texts.number
  }

  #numberDay(at: string): number {
    const day = dayOf(at)
    if (day === undefined) throw new UnstorableValue('22007', 'at is no time')
    const number = this.#days.indexOf(day)
    return number < 0 ? this.#days.push(day) - 1 : number
  }

  /** Encodes the rows of the records that have none. */
  async #encodeRest(): Promise<void> {
    const ticks = new ShortTicks()
    for (let place = 0; place < this.ids.length * FIELDS; place += FIELDS) {
      if (this.#hasUnstorableRow || this.#read(place, Field.rowsChunk) !== NO_CHUNK) continue
      if (ticks.isOver) await ticks.next()
      try {
        const json = this.#jsonAt(place)
        const record = parseRecordJson(json)
        this.#addRows(place, record, this.#encoder.encode(record, json, this.#texts))
      } catch {
        this.#hasUnstorableRow = true
      }
    }
  }

  /** Returns the rows in the order of the ids. */
  #listRows(): StoredRows[] {
    const rows = this.ids.map((id, index): StoredRows => {
      const place = index * FIELDS
      return {
        id,
        day: this.#days[this.#read(place, Field.day)] as string,
        bytes: this.#texts.chunk(this.#read(place, Field.rowsChunk)),
        start: this.#read(place, Field.rowsStart),
        usageEnd: this.#read(place, Field.usageEnd),
        logEnd: this.#read(place, Field.logEnd),
      }
    })
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  }
}
