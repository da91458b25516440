import type { Target } from '@rideau/llm/upstream/target'
import { type OnException, runGuarded, throwLater } from '../../core/on-exception.ts'
import type { EgressPolicy } from '../../http/egress.ts'
import { findTokenExchange } from '../../identity/find-token-exchange.ts'
import type { AccessToken, TokenExchange, TokenResult } from '../../identity/token-exchange.ts'

/** From here on a token is renewed while it is still used. */
const RENEW_MS = 5 * 60_000
/** A token with less left could expire on its way. */
const USABLE_MS = 30_000
const MAX_CREDENTIALS = 10_000

interface AccessTokensOptions {
  readonly policy: EgressPolicy
  readonly now: () => number
  readonly onException?: OnException
}

interface Entry {
  readonly apiKey: string
  readonly options: string
  token: AccessToken | undefined
  /** One exchange at a time, which all who wait share. */
  running: Promise<TokenResult> | undefined
}

/**
 * The access tokens of credentials that are exchanged for them: kept until shortly before they expire, and renewed
 * before that without anybody waiting. In memory only.
 */
export class AccessTokens {
  readonly #policy: EgressPolicy
  readonly #now: () => number
  readonly #onException: OnException
  readonly #entries = new Map<string, Entry>()

  constructor({ policy, now, onException = throwLater }: AccessTokensOptions) {
    this.#policy = policy
    this.#now = now
    this.#onException = onException
  }

  /** undefined: the target's key is sent as it is. A promise: the token has to be asked for. */
  find(credentialId: string, target: Target): string | Promise<TokenResult> | undefined {
    const exchange = findTokenExchange(target)
    if (exchange === undefined) return undefined
    const entry = this.#entryOf(credentialId, target)
    const remainingMs = entry.token === undefined ? 0 : entry.token.expiresAt - this.#now()
    if (entry.token === undefined || remainingMs < USABLE_MS) return this.#renew(entry, exchange, target)
    if (remainingMs < RENEW_MS)
      runGuarded('the renewal of an access token', this.#onException, () =>
        this.#renew(entry, exchange, target),
      )
    return entry.token.token
  }

  /** The provider refused this token: it is not used again. One that was renewed meanwhile stays. */
  drop(credentialId: string, token: string): void {
    const entry = this.#entries.get(credentialId)
    if (entry?.token?.token === token) entry.token = undefined
  }

  #renew(entry: Entry, exchange: TokenExchange, target: Target): Promise<TokenResult> {
    entry.running ??= exchange(target, { policy: this.#policy, now: this.#now() })
      .then(answer => {
        if (answer.ok) entry.token = answer.value
        return answer
      })
      .finally(() => {
        entry.running = undefined
      })
    return entry.running
  }

  /** A credential whose key or options were changed begins anew. */
  #entryOf(credentialId: string, { apiKey, options: given }: Target): Entry {
    const options = JSON.stringify(given ?? {})
    const known = this.#entries.get(credentialId)
    if (known !== undefined && known.apiKey === apiKey && known.options === options) return known
    if (this.#entries.size >= MAX_CREDENTIALS) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    const entry: Entry = { apiKey, options, token: undefined, running: undefined }
    this.#entries.set(credentialId, entry)
    return entry
  }
}
