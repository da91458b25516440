import type { Meter, MeterSubject } from '../../core/meter.ts'
import { type MeterRow, rowOf, subjectArgs } from './meter-args.ts'

/** What one operation gave, by the server's clock. See turn-script.ts. */
export interface Reply {
  readonly now: number
  readonly values: readonly number[]
}

/** As turn-script.ts lists them. */
export type Operation = readonly (string | number | readonly number[])[]

interface Asked {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** The operations of one call. Meters and subjects, which requests share, are told once. */
export class Turn {
  readonly #subjects = new Places<MeterSubject, readonly string[]>(subjectArgs)
  readonly #meters = new Places<Meter, MeterRow>(rowOf)
  /** By the key of an organization's holds. */
  readonly #work = new Map<string, Operation[]>()
  readonly #asked = new Map<string, Asked[]>()
  size = 0

  add(holds: string, operation: Operation): Promise<Reply> {
    this.size++
    let operations = this.#work.get(holds)
    let asked = this.#asked.get(holds)
    if (operations === undefined || asked === undefined) {
      this.#work.set(holds, (operations = []))
      this.#asked.set(holds, (asked = []))
    }
    operations.push(operation)
    const all = asked
    return new Promise((resolve, reject) => all.push({ resolve, reject }))
  }

  placeOf(subject: MeterSubject): number {
    return this.#subjects.of(subject)
  }

  placesOf(meters: readonly Meter[]): number[] {
    return meters.map(meter => this.#meters.of(meter))
  }

  /** The organizations that it concerns, as keys. */
  get keys(): string[] {
    return [...this.#work.keys()]
  }

  toJson(owner: string): string {
    return JSON.stringify([owner, this.#subjects.rows, this.#meters.rows, [...this.#work.values()]])
  }

  /** `replies`: of all operations, in the order of the keys. */
  answer(now: number, replies: readonly (readonly number[])[]): void {
    let at = 0
    for (const asked of this.#asked.values()) {
      for (const { resolve } of asked) resolve({ now, values: replies[at++] ?? [] })
    }
  }

  fail(error: Error): void {
    for (const asked of this.#asked.values()) {
      for (const { reject } of asked) reject(error)
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
