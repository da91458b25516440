import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'

/** Shorter bodies are cheaper as they are: undici sends these in the same tick. */
const LONG_BODY_BYTES = 8 * 1024

/**
 * Returns the request with a body that undici cannot keep once it is sent. It keeps the object that it was given until the answer
 * has ended, so a long body of bytes would stay for as long as a stream lasts.
 */
export function toReadOnce(
  request: UpstreamRequest,
): Pick<UpstreamRequest, 'path' | 'headers'> & { readonly body: Buffer | ReadOnce } {
  const { path, headers, body } = request
  if (body.length < LONG_BODY_BYTES) return request
  return { path, headers: { ...headers, 'content-length': String(body.length) }, body: new ReadOnce(body) }
}

/** An iterable that yields its bytes the first time and nothing after that. */
export class ReadOnce implements Iterable<Buffer> {
  #bytes: Buffer | undefined
  /** True once its reader came back for more: undici does when the socket has taken all. */
  isRead = false

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  *[Symbol.iterator](): Generator<Buffer> {
    const bytes = this.#bytes
    this.#bytes = undefined
    if (bytes !== undefined) yield bytes
    this.isRead = true
  }
}
