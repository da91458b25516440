import type { FetchedImage, ImageFetcher } from './fetch-image.ts'

/** Limit on all images of a request together. Providers accept about this much in one body. */
const MAX_BYTES = 20 * 1024 * 1024

/** Images that were fetched for a request, by address, as they stand in a body. Fetched once for all attempts. */
export type FetchedImages<T> = Map<string, FetchedImage<T>>

/**
 * Fetches the images of one attempt and counts every use of them: an image that stands in a body twice takes twice its bytes there,
 * though it is fetched once.
 */
export class ImageUses<T> {
  readonly #fetched: FetchedImages<T>
  readonly #fetcher: ImageFetcher
  readonly #counts = new Map<string, number>()
  #remainingBytes = MAX_BYTES

  constructor(fetched: FetchedImages<T>, fetcher: ImageFetcher) {
    this.#fetched = fetched
    this.#fetcher = fetcher
  }

  /**
   * Counts one use of the image at an address, which is fetched if it is the first. `toContent`: what stands in the body for it. Throws
   * `invalid_request` with `param` if the images are too large together, and `concurrency_limit_exceeded` if there is no room for them.
   */
  async add(address: string, param: string, toContent: (bytes: Buffer) => T): Promise<void> {
    const count = (this.#counts.get(address) ?? 0) + 1
    this.#counts.set(address, count)
    const known = this.#fetched.get(address)
    if (known === undefined) {
      const bytes = await this.#fetcher.fetch(address, param, this.#remainingBytes)
      this.#remainingBytes -= bytes.length
      this.#fetched.set(address, { content: toContent(bytes), bytes: bytes.length, uses: 1 })
      return
    }
    if (known.bytes > this.#remainingBytes) throw this.#fetcher.unavailable(param)
    this.#remainingBytes -= known.bytes
    // An earlier attempt has acquired as many uses as it had.
    if (count <= known.uses) return
    this.#fetcher.acquire(known.bytes)
    known.uses = count
  }
}
