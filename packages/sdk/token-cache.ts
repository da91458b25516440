import { AttemptScope } from './attempt-scope.ts'
import { type ClientToken, findClientToken, toLifetimeMs } from './client-token.ts'
import { RideauError, RideauTokenError } from './errors.ts'
import { orAborted } from './runtime.ts'
import type { Credential, Transport } from './transport.ts'

/** What a token source mints with. */
export interface MintContext {
  readonly gatewayUrl: string
  readonly transport: Transport
  /** Aborts when minting takes too long. */
  readonly signal: AbortSignal
}

/** Where client tokens come from. The three of this library are `fromBackend`, `fromIdentityToken` and `fromDevice`. */
export interface TokenSource {
  mint(context: MintContext): Promise<unknown>
}

export interface TokenCacheOptions {
  readonly source: TokenSource
  readonly gatewayUrl: string
  readonly transport: Transport
  readonly timeoutMs: number
}

interface CachedToken {
  readonly answer: ClientToken
  /** On the elapsed clock, from before the token was asked for. */
  readonly mintedAt: number
  readonly lifetimeMs: number
}

/** A token is renewed this long before its end, or at four fifths of a short life. */
const RENEW_BEFORE_MS = 60_000
/** While the old token still works, a failed renewal is not repeated at once. */
const PAUSE_AFTER_FAILURE_MS = 5_000

/** Keeps one client token and renews it. Concurrent calls share one renewal. */
export class TokenCache implements Credential {
  readonly #options: TokenCacheOptions
  #cached: CachedToken | undefined
  #renewal: Promise<string> | undefined
  #pausedUntil = 0

  constructor(options: TokenCacheOptions) {
    this.#options = options
  }

  /** The end user of the current token, where its source tells. */
  get endUserId(): string | undefined {
    return this.#cached?.answer.end_user_id
  }

  async get(signal: AbortSignal | undefined): Promise<string> {
    const now = this.#options.transport.runtime.now()
    const cached = this.#cached
    if (cached !== undefined) {
      const remainingMs = cached.mintedAt + cached.lifetimeMs - now
      const isUsable = remainingMs > 0
      const isDue = remainingMs <= Math.min(RENEW_BEFORE_MS, cached.lifetimeMs / 5)
      if (isUsable && (!isDue || now < this.#pausedUntil)) return cached.answer.token
      if (isUsable) return this.#renewOrKeep(cached, signal)
    }
    return orAborted(this.#renew(), signal)
  }

  drop(token: string): boolean {
    // A concurrent call may have replaced it already.
    if (this.#cached?.answer.token === token) this.#cached = undefined
    return true
  }

  /** Forgets the token, as at sign-out. The next call mints another one. */
  clear(): void {
    this.#cached = undefined
    // A renewal that runs was started for who is signed out: its token is not kept.
    this.#renewal = undefined
  }

  async #renewOrKeep(cached: CachedToken, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await orAborted(this.#renew(), signal)
    } catch (error) {
      if (signal?.aborted === true || this.#cached !== cached) throw error
      this.#pausedUntil = this.#options.transport.runtime.now() + PAUSE_AFTER_FAILURE_MS
      return cached.answer.token
    }
  }

  #renew(): Promise<string> {
    if (this.#renewal !== undefined) return this.#renewal
    const renewal: Promise<string> = this.#mint(() => this.#renewal === renewal).finally(() => {
      if (this.#renewal === renewal) this.#renewal = undefined
    })
    // Every caller may have left by an abort.
    renewal.catch(() => {})
    this.#renewal = renewal
    return renewal
  }

  async #mint(isCurrent: () => boolean): Promise<string> {
    const { source, gatewayUrl, transport, timeoutMs } = this.#options
    const scope = new AttemptScope(undefined)
    scope.startTimer(timeoutMs, 'The client token')
    const mintedAt = transport.runtime.now()
    try {
      const minting = source.mint({ gatewayUrl, transport, signal: scope.signal })
      const answer = findClientToken(await orAborted(minting, scope.signal))
      if (answer === undefined) throw new RideauTokenError('The token source gave no client token.')
      if (isCurrent()) this.#cached = { answer, mintedAt, lifetimeMs: toLifetimeMs(answer) }
      return answer.token
    } catch (error) {
      if (scope.signal.aborted) throw scope.toError(error)
      if (error instanceof RideauError) throw error
      const message = error instanceof Error ? error.message : String(error)
      throw new RideauTokenError(`The token source failed: ${message}`, { cause: error })
    } finally {
      scope.close()
    }
  }
}
