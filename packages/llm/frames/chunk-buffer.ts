const MIN_BLOCK_BYTES = 1024
const NOTHING = Buffer.alloc(0)

/**
 * Buffers bytes that arrive in pieces until more come. From the second piece on they are copied into one block: a
 * piece of one byte would take some 300 bytes, and keep the memory that it was read into.
 */
export class ChunkBuffer {
  size = 0
  /** The first piece, while it is the only one. */
  #first: Buffer | undefined
  #block = NOTHING

  add(piece: Buffer): void {
    if (piece.length === 0) return
    const { size } = this
    this.size += piece.length
    if (size === 0) {
      this.#first = piece
      return
    }
    if (this.size > this.#block.length) this.#grow(size)
    piece.copy(this.#block, size)
  }

  /** Returns the bytes, and keeps them. */
  peek(): Buffer {
    return this.#first ?? this.#block.subarray(0, this.size)
  }

  /** Returns what was kept with `rest` behind it, and keeps nothing. */
  take(rest: Buffer): Buffer {
    const bytes = this.size === 0 ? rest : Buffer.concat([this.peek(), rest])
    this.clear()
    return bytes
  }

  clear(): void {
    this.size = 0
    this.#first = undefined
    this.#block = NOTHING
  }

  #grow(kept: number): void {
    const block = Buffer.allocUnsafeSlow(Math.max(MIN_BLOCK_BYTES, 2 * this.size))
    if (this.#first === undefined) this.#block.copy(block, 0, 0, kept)
    else this.#first.copy(block)
    this.#first = undefined
    this.#block = block
  }
}
