import { runInSlices } from './sliced-work.ts'

/** So many chunks are looked at together. */
const GROUP = 256
/** Chunks that are smaller on the average are copied together. */
const SMALL_BYTES = 1_024
/** More are copied in slices of so many: fresh memory costs a millisecond a MiB. */
const SLICE_BYTES = 2 * 1024 * 1024

/**
 * What came of a body so far. A body in chunks of one byte would take a hundred times its size if each were kept: a Buffer
 * has some 100 bytes of its own, and holds on to the block that it was read in.
 */
export class ReceivedChunks {
  size = 0
  readonly #groups: Buffer[] = []
  #chunks: Buffer[] = []
  #chunksSize = 0

  add(chunk: Buffer): void {
    this.size += chunk.length
    this.#chunksSize += chunk.length
    if (this.#chunks.push(chunk) === GROUP) this.#endGroup()
  }

  /** All in one; a promise where it takes long. */
  join(): Buffer | Promise<Buffer> {
    if (this.#groups.length === 0 && this.#chunks.length === 1) return this.#chunks[0] as Buffer
    const all = [...this.#groups, ...this.#chunks]
    return this.size > SLICE_BYTES ? joinInSlices(all, this.size) : Buffer.concat(all, this.size)
  }

  #endGroup(): void {
    if (this.#chunksSize < GROUP * SMALL_BYTES)
      this.#groups.push(Buffer.concat(this.#chunks, this.#chunksSize))
    else for (const chunk of this.#chunks) this.#groups.push(chunk)
    this.#chunks = []
    this.#chunksSize = 0
  }
}

async function joinInSlices(chunks: readonly Buffer[], size: number): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(size)
  let next = 0
  let at = 0
  const step = (): boolean => {
    const end = at + SLICE_BYTES
    while (next < chunks.length && at < end) at += (chunks[next++] as Buffer).copy(joined, at)
    return next === chunks.length
  }
  await runInSlices({ step }, () => false)
  return joined
}
