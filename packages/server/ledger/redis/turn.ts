import type { Meter, MeterSubject } from '../../core/meter.ts'
import { type MeterRow, rowOf, subjectArgs } from './meter-args.ts'

/** What one operation gave, by the server's clock. See turn-script.ts. */
export interface Reply {
  readonly now: number
  readonly values: readonly number[]
}

/** As turn-script.ts lists them. */
export type Operation = readonly (string | number | readonly number[])[]

/** What is asked of one organization, and who waits for each reply. */
interface Work {
  readonly operations: Operation[]
  readonly waiting: Waiting[]
}

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** The operations of one call. Meters and subjects, which requests share, are told once. */
export class Turn {
  readonly #subjects = new Places<MeterSubject, readonly string[]>(subjectArgs)
  readonly #meters = new Places<Meter, MeterRow>(rowOf)
  /** By the key of an organization's holds. */
  readonly #work = new Map<string, Work>()
  size = 0

  add(holds: string, operation: Operation): Promise<Reply> {
    this.size++
    let work = this.#work.get(holds)
    if (work === undefined) {
      work = { operations: [], waiting: [] }
      this.#work.set(holds, work)
    }
    const { operations, waiting } = work
    operations.push(operation)
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
  }

  placeOf(subject: MeterSubject): number {
    return this.#subjects.of(subject)
  }

  placesOf(meters: readonly Meter[]): number[] {
    return meters.map(meter => this.#meters.of(meter))
  }

  /** The organizations that it concerns. */
  get keys(): string[] {
    return [...this.#work.keys()]
  }

  toJson(owner: string): string {
    const work = Array.from(this.#work.values(), ({ operations }) => operations)
    return JSON.stringify([owner, this.#subjects.rows, this.#meters.rows, work])
  }

  /** `reply`: as the script packed it. */
  answer(reply: Buffer): void {
    const numbers = new DataView(reply.buffer, reply.byteOffset, reply.byteLength)
    let at = 0
    const next = (): number => numbers.getFloat64(at++ * 8, true)
    const now = next()
    for (const { waiting } of this.#work.values()) {
      for (const { resolve } of waiting) {
        const values: number[] = []
        for (let left = next(); left > 0; left--) values.push(next())
        resolve({ now, values })
      }
    }
  }

  fail(error: Error): void {
    for (const { waiting } of this.#work.values()) {
      for (const { reject } of waiting) reject(error)
    }
  }
}

/** Rows that are told once each, by their places from 1 on. */
class Places<T, Row> {
  readonly rows: Row[] = []
  readonly #toRow: (each: T) => Row
  readonly #places = new Map<T, number>()

  constructor(toRow: (each: T) => Row) {
    this.#toRow = toRow
  }

  of(each: T): number {
    const known = this.#places.get(each)
    if (known !== undefined) return known
    const place = this.rows.push(this.#toRow(each))
    this.#places.set(each, place)
    return place
  }
}
