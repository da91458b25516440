/** How many are remembered, of keys and of tokens each. */
const MAX = 50_000

/**
 * The digests of credentials that were valid when they were last looked up. Their next look-up is no attempt to guess, so
 * it does not depend on what else comes from the same address.
 */
export class ProvenCredentials {
  readonly #keys = new Set<string>()
  /** Client tokens and sessions. Kept apart, since there are many more of them. */
  readonly #tokens = new Set<string>()

  has(digest: string): boolean {
    return this.#keys.has(digest) || this.#tokens.has(digest)
  }

  add(digest: string, kind: 'key' | 'token'): void {
    const of = kind === 'key' ? this.#keys : this.#tokens
    if (of.has(digest)) return
    const oldest = of.size < MAX ? undefined : of.values().next().value
    if (oldest !== undefined) of.delete(oldest)
    of.add(digest)
  }

  delete(digest: string): void {
    this.#keys.delete(digest)
    this.#tokens.delete(digest)
  }
}
