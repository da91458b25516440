/** Many short texts share a chunk. */
export const CHUNK_BYTES = 64 * 1024
/** The most free chunks that are kept: 4 MiB. */
const MAX_FREE = 64

/**
 * Memory outside of V8's heap, which the garbage collector does not copy. It is used again: new memory would make the
 * garbage collector run for the sake of its bytes.
 */
export class ChunkPool {
  readonly #free: Buffer[] = []

  /** Returns a chunk of at least `bytes` bytes, with any content. */
  take(bytes: number): Buffer {
    // Not of Node's pool, whose small slices keep each other alive.
    if (bytes > CHUNK_BYTES) return Buffer.allocUnsafeSlow(bytes)
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  /** Takes chunks back, which must not be read or written any more. */
  give(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) {
      if (chunk.length === CHUNK_BYTES && this.#free.length < MAX_FREE) this.#free.push(chunk)
    }
  }
}
