import type { ChunkPool } from './chunk-pool.ts'

/** The most bytes that UTF-8 takes for a UTF-16 code unit. */
const MAX_UNIT_BYTES = 3
const NOTHING = Buffer.alloc(0)

/** Writes texts as UTF-8, one after the other, into chunks of its own. */
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

  /** Its number. */
  get number(): number {
    return this.#chunks.length - 1
  }

  /** Where the next text begins. */
  get end(): number {
    return this.#end
  }

  chunk(number: number): Buffer {
    return this.#chunks[number] ?? NOTHING
  }

  /** Makes room in one chunk for texts of so many UTF-16 code units together. */
  reserve(units: number): void {
    const most = units * MAX_UNIT_BYTES
    if (this.#end + most <= this.#current.length) return
    this.#current = this.#pool.take(most)
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
