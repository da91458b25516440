import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import type { ByteWriter } from './byte-writer.ts'
import {
  DEFINE_METERS,
  DEFINE_SUBJECT,
  FORGET_DEFINITIONS,
  MAX_DEFINED_METERS,
  MAX_DEFINITIONS,
} from './operations.ts'

/**
 * The numbers of the meters and subjects that this connection has sent. A caller's requests share one list of meters
 * (gateway/limits/meter-sets.ts), so that most requests are a few numbers.
 */
export class Definitions {
  readonly #meters = new Map<readonly Meter[], number>()
  readonly #subjects = new Map<MeterSubject, number>()
  /** In all lists together. */
  #definedMeters = 0

  /** Makes room for one more of each. To be called before the numbers of an operation are asked for. */
  makeRoom(writer: ByteWriter): void {
    const hasRoom =
      this.#meters.size < MAX_DEFINITIONS &&
      this.#subjects.size < MAX_DEFINITIONS &&
      this.#definedMeters < MAX_DEFINED_METERS
    if (hasRoom) return
    writer.uint8(FORGET_DEFINITIONS)
    this.clear()
  }

  numberOfMeters(meters: readonly Meter[], writer: ByteWriter): number {
    const known = this.#meters.get(meters)
    if (known !== undefined) return known
    this.#definedMeters += meters.length
    return define(this.#meters, meters, DEFINE_METERS, writer)
  }

  numberOfSubject(subject: MeterSubject, writer: ByteWriter): number {
    return this.#subjects.get(subject) ?? define(this.#subjects, subject, DEFINE_SUBJECT, writer)
  }

  clear(): void {
    this.#meters.clear()
    this.#subjects.clear()
    this.#definedMeters = 0
  }
}

function define<T>(numbers: Map<T, number>, item: T, code: number, writer: ByteWriter): number {
  const number = numbers.size
  numbers.set(item, number)
  writer.uint8(code)
  writer.text(JSON.stringify(item))
  writer.endOperation()
  return number
}
