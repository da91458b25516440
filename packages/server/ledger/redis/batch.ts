import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import { type MeterRow, rowOf, subjectArgs } from './meter-args.ts'

/** What one operation replied, and the server's time. See run-batch.lua. */
export interface Reply {
  /** Unix milliseconds by the server's clock. */
  readonly now: number
  readonly values: readonly number[]
}

/** An operation as run-batch.lua lists it. */
export type Operation = readonly (string | number | readonly number[])[]

/** The operations on one organization, and the callers that wait for their replies. */
interface Work {
  readonly operations: Operation[]
  readonly waiting: ReplyWaiter[]
}

interface ReplyWaiter {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** The operations of one call of run-batch.lua. Each meter and subject is sent once, since requests share them. */
export class Batch {
  readonly #subjects = new PositionTable<MeterSubject, readonly string[]>(subjectArgs)
  readonly #meters = new PositionTable<Meter, MeterRow>(rowOf)
  /** By the key of the organization's reservations. */
  readonly #work = new Map<string, Work>()
  /** Number of operations. */
  size = 0

  /** Resolves with the operation's reply; rejects with the call that carries it. */
  add(reservationsKey: string, operation: Operation): Promise<Reply> {
    this.size++
    let work = this.#work.get(reservationsKey)
    if (work === undefined) {
      work = { operations: [], waiting: [] }
      this.#work.set(reservationsKey, work)
    }
    const { operations, waiting } = work
    operations.push(operation)
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
  }

  positionOf(subject: MeterSubject): number {
    return this.#subjects.positionOf(subject)
  }

  positionsOf(meters: readonly Meter[]): number[] {
    return meters.map(meter => this.#meters.positionOf(meter))
  }

  /** The keys of the organizations' reservations. */
  get keys(): string[] {
    return [...this.#work.keys()]
  }

  toJson(owner: string): string {
    const work = Array.from(this.#work.values(), ({ operations }) => operations)
    return JSON.stringify([owner, this.#subjects.rows, this.#meters.rows, work])
  }

  /** Resolves every operation. `packed`: the doubles that run-batch.lua returned. */
  resolve(packed: Buffer): void {
    const numbers = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
    let at = 0
    const next = (): number => numbers.getFloat64(at++ * 8, true)
    const now = next()
    for (const { waiting } of this.#work.values()) {
      for (const { resolve } of waiting) {
        const values: number[] = []
        for (let remaining = next(); remaining > 0; remaining--) values.push(next())
        resolve({ now, values })
      }
    }
  }

  /** Rejects every operation. */
  reject(error: Error): void {
    for (const { waiting } of this.#work.values()) {
      for (const { reject } of waiting) reject(error)
    }
  }
}

/** A list without duplicates, whose rows are referred to by their positions, from 1 on as in Lua. */
class PositionTable<T, Row> {
  readonly rows: Row[] = []
  readonly #toRow: (item: T) => Row
  readonly #positions = new Map<T, number>()

  constructor(toRow: (item: T) => Row) {
    this.#toRow = toRow
  }

  positionOf(item: T): number {
    const known = this.#positions.get(item)
    if (known !== undefined) return known
    const position = this.rows.push(this.#toRow(item))
    this.#positions.set(item, position)
    return position
  }
}
