import type { ImageFormat, ImageRequest } from '@rideau/llm/images/image-format'
import type { Target } from '@rideau/llm/upstream/target'
import type { EncodedRequest, UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { RequestContext } from '../request/request-context.ts'
import { writeRequest } from './authorize-written.ts'
import type { WatchGroup } from './watch-group.ts'

/** What the calls of one attempt ask for. */
export interface ImageCalls {
  readonly ctx: RequestContext
  readonly format: ImageFormat
  readonly target: Target
  readonly request: ImageRequest
  readonly dropped: readonly string[]
}

type Written = UpstreamRequest | undefined

/**
 * The bodies of the calls of one attempt. Those for as many images are equal, and are written once. Each call that runs beside the
 * first counts its body as part of the request's: a connection may copy all of it to encrypt it.
 */
export class ImageBodies {
  readonly #calls: ImageCalls
  readonly #group: WatchGroup
  /** By the number of images. */
  readonly #written = new Map<number, Written | Promise<Written>>()
  #acquired = 0

  constructor(calls: ImageCalls, group: WatchGroup) {
    this.#calls = calls
    this.#group = group
  }

  /** Returns the request for so many images, with headers of its own. undefined: it was stopped while it was written. */
  async write(n: number): Promise<EncodedRequest | undefined> {
    const written = await this.#writeOnce(n)
    return written && { ...written, headers: { ...written.headers } }
  }

  /** Returns how many of `most` further calls for so many images there is memory for. */
  async acquire(n: number, most: number): Promise<number> {
    const { permit } = this.#calls.ctx
    const bytes = most === 0 ? 0 : ((await this.#writeOnce(n))?.body.length ?? 0)
    let calls = 0
    while (calls < most && permit?.tryAcquire(bytes) !== false) calls++
    this.#acquired = calls * bytes
    return calls
  }

  release(): void {
    this.#calls.ctx.permit?.release(this.#acquired)
  }

  #writeOnce(n: number): Written | Promise<Written> {
    const known = this.#written.get(n)
    if (known !== undefined) return known
    const { format, request, target, dropped } = this.#calls
    const encoded = format.encodeRequest({ ...request, n }, target, dropped)
    const written = writeRequest(encoded, this.#group.open())
    this.#written.set(n, written)
    return written
  }
}
