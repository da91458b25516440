import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { runInSlices } from '../fairness/sliced-work.ts'

/** The number of chunks in a group. */
const GROUP = 256
/** A group whose chunks are smaller on average is copied into one buffer. */
const SMALL_BYTES = 1_024
/** Longer bodies are copied in slices of this size, because fresh memory costs a millisecond per MiB. */
const SLICE_BYTES = 512 * 1024

/**
 * The received part of a body. Keeping every chunk of a body in chunks of one byte would take a hundred times its size,
 * because each Buffer takes about 100 bytes and keeps the memory block that it was read into.
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

  /** Returns the whole body; a promise if it is too long to be copied at once. `owner`: whose turns in the event loop copying takes. */
  join(owner?: ShareOwner): Buffer | Promise<Buffer> {
    if (this.#groups.length === 0 && this.#chunks.length === 1) return this.#chunks[0] as Buffer
    const all = [...this.#groups, ...this.#chunks]
    return this.size > SLICE_BYTES ? joinInSlices(all, this.size, owner) : Buffer.concat(all, this.size)
  }

  /** Returns a copy of what has arrived. */
  copy(): Buffer {
    return Buffer.concat([...this.#groups, ...this.#chunks], this.size)
  }

  #endGroup(): void {
    if (this.#chunksSize < GROUP * SMALL_BYTES)
      this.#groups.push(Buffer.concat(this.#chunks, this.#chunksSize))
    else for (const chunk of this.#chunks) this.#groups.push(chunk)
    this.#chunks = []
    this.#chunksSize = 0
  }
}

async function joinInSlices(
  chunks: readonly Buffer[],
  size: number,
  owner: ShareOwner | undefined,
): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(size)
  let next = 0
  let at = 0
  const step = (): boolean => {
    const end = at + SLICE_BYTES
    while (next < chunks.length && at < end) at += (chunks[next++] as Buffer).copy(joined, at)
    return next === chunks.length
  }
  await runInSlices({ step }, () => false, owner)
  return joined
}
