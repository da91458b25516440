/** Reads what ByteWriter wrote. Every method throws a RangeError where the payload ends before. */
export class ByteReader {
  readonly #bytes: Buffer
  readonly #view: DataView
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  uint8(): number {
    return this.#view.getUint8(this.#at++)
  }

  uint32(): number {
    const value = this.#view.getUint32(this.#at, true)
    this.#at += 4
    return value
  }

  double(): number {
    const value = this.#view.getFloat64(this.#at, true)
    this.#at += 8
    return value
  }

  /** Returns null for what was written as null. */
  doubleOrNull(): number | null {
    const value = this.double()
    return Number.isNaN(value) ? null : value
  }

  /** A whole number of at least 0. */
  amount(): number {
    const value = this.double()
    if (Number.isSafeInteger(value) && value >= 0) return value
    throw new RangeError(`an amount must be a whole number of at least 0; got ${value}`)
  }

  text(): string {
    const length = this.uint32()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a text is longer than its frame')
    const value = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return value
  }
}
