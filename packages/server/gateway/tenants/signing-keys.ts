import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { TokenSigner } from '../../core/access/client-token.ts'
import { listPublished, type SigningKey } from '../../core/access/signing-schedule.ts'
import { Fault } from '../../core/fault.ts'

export interface SigningKeysOptions {
  /** Loads all stored keys, including those that only signed expired tokens. */
  readonly load: () => Promise<readonly SigningKey[]>
  /** Loads the key that signs now. Throws `signing_key_unavailable`. */
  readonly loadSigner: () => Promise<TokenSigner>
  /** Unix milliseconds. */
  readonly now: () => number
}

/** A key by which client tokens are verified. */
export interface VerificationKey {
  readonly publicKey: KeyObject
  /** False: every token that it signed has expired, so that it only distinguishes those from forged ones. */
  readonly isPublished: boolean
}

/** Keys are published a day before they sign, so a list of this age in milliseconds lacks none. */
const FRESH_MS = 60_000
/** How long a signing key is used while it cannot be loaded. */
const MAX_SIGNER_MS = 30 * 60_000
/** Least milliseconds between two queries for tokens with unknown key ids. */
const RETRY_MS = 1_000

/** The public keys of client tokens, cached in memory. */
export class SigningKeys {
  readonly #options: SigningKeysOptions
  #keys: readonly SigningKey[] | undefined
  #objects = new Map<string, KeyObject>()
  #loadedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<void> | undefined
  #signer: TokenSigner | undefined
  #signerAt = Number.NEGATIVE_INFINITY
  #signerLoading: Promise<TokenSigner> | undefined
  /** How often keys were forgotten. */
  #forgotten = 0

  constructor(options: SigningKeysOptions) {
    this.#options = options
  }

  /** Returns undefined if there is no such key. Throws `config_unavailable` if the keys cannot be loaded. */
  async find(kid: string): Promise<VerificationKey | undefined> {
    if (!this.#objects.has(kid) && this.#isOlderThan(RETRY_MS)) {
      await this.#reload().catch(cause => {
        const message = 'The keys of client tokens could not be loaded right now. Try again shortly.'
        throw new Fault('config_unavailable', message, { cause, retryAfterSeconds: 1 })
      })
    }
    const publicKey = this.#objects.get(kid)
    const isPublished = this.#listPublished().some(key => key.kid === kid)
    return publicKey && { publicKey, isPublished }
  }

  /** Forgets all keys, also the one that signs: some may have been removed from the database. */
  forget(): void {
    this.#forgotten++
    this.#keys = undefined
    this.#objects = new Map()
    this.#loadedAt = Number.NEGATIVE_INFINITY
    this.#signer = undefined
    this.#signerAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Returns the keys as `/.well-known/jwks.json` lists them: the next, the current, and previous ones whose tokens may
   * still be valid.
   */
  async listPublic(): Promise<readonly JsonWebKey[]> {
    if (this.#isOlderThan(FRESH_MS)) {
      await this.#reload().catch(cause => {
        if (this.#keys !== undefined) return
        const message = 'The keys of client tokens could not be loaded right now.'
        throw new Fault('signing_key_unavailable', message, { cause, retryAfterSeconds: 1 })
      })
    }
    return this.#listPublished().map(({ kid, publicJwk }) => ({
      ...publicJwk,
      kid,
      alg: 'ES256',
      use: 'sig',
    }))
  }

  /** Returns the key that signs, at most a minute old unless it cannot be loaded. Throws `signing_key_unavailable`. */
  async getSigner(): Promise<TokenSigner> {
    const age = this.#options.now() - this.#signerAt
    if (this.#signer !== undefined && age < FRESH_MS) return this.#signer
    this.#signerLoading ??= this.#loadSigner().finally(() => {
      this.#signerLoading = undefined
    })
    try {
      return await this.#signerLoading
    } catch (error) {
      // A previous key stays published for as long as its tokens live, and an hour more.
      if (this.#signer !== undefined && age < MAX_SIGNER_MS) return this.#signer
      throw error
    }
  }

  #listPublished(): readonly SigningKey[] {
    return listPublished(this.#keys ?? [], this.#options.now())
  }

  async #loadSigner(): Promise<TokenSigner> {
    const signer = await this.#loadNow(this.#options.loadSigner)
    this.#signer = signer
    this.#signerAt = this.#options.now()
    return signer
  }

  #isOlderThan(ms: number): boolean {
    return this.#options.now() - this.#loadedAt >= ms
  }

  async #reload(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    await this.#loading
  }

  async #load(): Promise<void> {
    const keys = await this.#loadNow(this.#options.load)
    this.#objects = new Map(
      keys.map(({ kid, publicJwk }) => [kid, createPublicKey({ key: publicJwk, format: 'jwk' })]),
    )
    this.#keys = keys
    this.#loadedAt = this.#options.now()
  }

  /** Loads once more where keys were forgotten meanwhile, since what was read may be older. */
  async #loadNow<T>(load: () => Promise<T>): Promise<T> {
    for (;;) {
      const forgotten = this.#forgotten
      const loaded = await load()
      if (forgotten === this.#forgotten) return loaded
    }
  }
}
