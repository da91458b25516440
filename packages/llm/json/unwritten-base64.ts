const NOTHING = Buffer.alloc(0)

/**
 * Bytes that stand in a JSON text as a string of base64, which is made when the text is written: 31 MB take 20 to 35 ms at once. To all
 * who read values it is an object without fields.
 */
export class UnwrittenBase64 {
  /** Makes it one of the values of JSON. */
  readonly [name: string]: undefined
  readonly #head: string
  readonly #pieces: () => Iterable<Buffer>

  /** `head`: what precedes the base64 in its string. `pieces`: the bytes, in pieces each of which is encoded at once. */
  constructor(head: string, pieces: () => Iterable<Buffer>) {
    this.#head = head
    this.#pieces = pieces
  }

  /** Yields what stands between the quotes. */
  static *write(value: UnwrittenBase64): Generator<Buffer, void> {
    yield Buffer.from(JSON.stringify(value.#head).slice(1, -1))
    let rest: Buffer = NOTHING
    for (const piece of value.#pieces()) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      // Three bytes are four characters.
      const end = bytes.length - (bytes.length % 3)
      rest = bytes.subarray(end)
      yield Buffer.from(bytes.toString('base64', 0, end), 'latin1')
    }
    yield Buffer.from(rest.toString('base64'), 'latin1')
  }
}
