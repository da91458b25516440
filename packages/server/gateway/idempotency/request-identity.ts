import { createHash, type Hash } from 'node:crypto'
import { runInSlices, type SlicedWork } from '../../http/fairness/sliced-work.ts'
import type { IdentifiedContext } from '../request/request-context.ts'

/** A longer body is hashed in slices. */
const SHORT_BYTES = 1024 * 1024

/** What makes a request the repetition of another one. */
export interface RequestIdentity {
  /** SHA-256 of the key with environment, end user and path. */
  readonly hash: Buffer
  /** SHA-256 of what was asked, with the key. */
  readonly bodyHash: Buffer
}

/** What tells two requests apart besides the body that the context has. */
export interface IdentityInput {
  /** What the path and the body leave open, such as the format of a stream that the query names. */
  readonly variant?: string | undefined
  /** The files of a form. The context has the form's other fields. */
  readonly files?: readonly Buffer[] | undefined
}

/** Rejects if the request is stopped meanwhile. */
export async function identifyRequest(
  ctx: IdentifiedContext,
  key: string,
  input: IdentityInput,
): Promise<RequestIdentity> {
  const path = ctx.req.url?.split('?', 1)[0] ?? ''
  // No part has a line break, so no two scopes have the same text.
  const scope = [ctx.environment.id, ctx.endUser?.id ?? '', path, key].join('\n')
  const hash = createHash('sha256').update(scope).digest()
  const { requestBody } = ctx.recordFields
  const parts = [requestBody ?? Buffer.alloc(0), ...(input.files ?? [])]
  const bodyHash = createHash('sha256')
    .update(key)
    .update(`\n${input.variant ?? ''}\n${parts.length}\n`)
  // The boundary of a form is another one in each attempt of a client, so its fields and files are hashed.
  for (const part of parts) {
    bodyHash.update(`${part.length}\n`)
    if (part.length <= SHORT_BYTES) bodyHash.update(part)
    else await runInSlices(new LongHash(bodyHash, part), () => ctx.stopped !== undefined, ctx)
    ctx.assertNotStopped()
  }
  return { hash, bodyHash: bodyHash.digest() }
}

class LongHash implements SlicedWork {
  readonly #hash: Hash
  readonly #bytes: Buffer
  #at = 0

  constructor(hash: Hash, bytes: Buffer) {
    this.#hash = hash
    this.#bytes = bytes
  }

  step(): boolean {
    this.#hash.update(this.#bytes.subarray(this.#at, this.#at + SHORT_BYTES))
    this.#at += SHORT_BYTES
    return this.#at >= this.#bytes.length
  }
}
