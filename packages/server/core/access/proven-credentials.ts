import { FairCache } from '../admission/fair-cache.ts'

/** How many are remembered, of keys and of tokens each. */
const MAX = 50_000

/**
 * The digests of credentials that were valid when they were last looked up. Their next look-up is no attempt to guess, so
 * it does not depend on what else comes from the same address.
 */
export class ProvenCredentials {
  readonly #keys = new FairCache<true>(MAX)
  /** Client tokens and sessions. Kept apart, since there are many more of them. */
  readonly #tokens = new FairCache<true>(MAX)

  has(digest: string): boolean {
    return (this.#keys.find(digest) ?? this.#tokens.find(digest)) === true
  }

  /** `owner`: whose credential it is, an organization or a person. Who has the most makes room for others. */
  add(digest: string, kind: 'key' | 'token', owner: string): void {
    const cache = kind === 'key' ? this.#keys : this.#tokens
    cache.set(owner, digest, true)
  }

  delete(digest: string): void {
    this.#keys.delete(digest)
    this.#tokens.delete(digest)
  }
}
