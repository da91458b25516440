import type { ChunkPool } from './chunk-pool.ts'

const NOTHING = Buffer.alloc(0)

/** Texts in UTF-8 and rows, one after the other, in chunks of its own. */
export class TextChunks {
  readonly #pool: ChunkPool
  readonly #chunks: Buffer[] = []
  #current: Buffer = NOTHING
  #end = 0

  constructor(pool: ChunkPool) {
    this.#pool = pool
  }

  /** The chunk that is written. */
  get current(): Buffer {
    return this.#current
  }

  /** The number of the current chunk. */
  get number(): number {
    return this.#chunks.length - 1
  }

  /** Where the next text or row begins. */
  get end(): number {
    return this.#end
  }

  /** Who has written to the chunk itself moves the end. */
  set end(at: number) {
    this.#end = at
  }

  chunk(number: number): Buffer {
    return this.#chunks[number] ?? NOTHING
  }

  /** Makes room for `bytes` bytes in one chunk. */
  reserve(bytes: number): void {
    if (this.#end + bytes <= this.#current.length) return
    this.#current = this.#pool.take(bytes)
    this.#chunks.push(this.#current)
    this.#end = 0
  }

  /** Adds a text, for which there must be room, and returns its end. */
  add(text: string): number {
    this.#end += this.#current.write(text, this.#end, 'utf8')
    return this.#end
  }

  /** Gives the chunks back. */
  release(): void {
    this.#pool.give(this.#chunks.splice(0))
    this.#current = NOTHING
    this.#end = 0
  }
}
