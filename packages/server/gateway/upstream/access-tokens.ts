import type { Target } from '@rideau/llm/upstream/target'
import { FairCache } from '../../core/admission/fair-cache.ts'
import { type OnException, runGuarded, throwLater } from '../../core/on-exception.ts'
import { chargeLookupsTo, type EgressPolicy } from '../../http/egress/egress.ts'
import { type LookupOwner, toLookupOwner, toOrganization } from '../../http/names/lookup-slots.ts'
import { findTokenExchange } from '../../identity/find-token-exchange.ts'
import type { AccessToken, TokenExchange, TokenResult } from '../../identity/token-exchange.ts'

/** A token that is used with less than this left is renewed in the background. Milliseconds. */
const RENEW_MS = 5 * 60_000
/** A token with less than this left could expire before it arrives. Milliseconds. */
const USABLE_MS = 30_000
/** How long a key that was rejected is not exchanged again: each exchange signs, on one of the threads that all share. */
const REJECTED_MS = 10_000
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
  /** The last answer if it rejected the key, and the time until which it stands for further ones. */
  rejection: { readonly answer: TokenResult; readonly until: number } | undefined
  /** The running exchange, shared by concurrent callers. */
  running: Promise<TokenResult> | undefined
}

/**
 * Access tokens of credentials that are exchanged for them. Cached until shortly before they expire and renewed in the
 * background before that. A rejection is cached for 10 s, other failures are not. In memory only.
 */
export class AccessTokens {
  readonly #policy: EgressPolicy
  readonly #now: () => number
  readonly #onException: OnException
  readonly #entries = new FairCache<Entry>(MAX_CREDENTIALS)

  constructor({ policy, now, onException = throwLater }: AccessTokensOptions) {
    this.#policy = policy
    this.#now = now
    this.#onException = onException
  }

  /** Returns undefined if the target's key is sent as it is, a token if one is cached, or a promise of one. */
  find(
    credentialId: string,
    target: Target,
    owner: LookupOwner = toLookupOwner(credentialId),
  ): string | Promise<TokenResult> | undefined {
    const exchange = findTokenExchange(target)
    if (exchange === undefined) return undefined
    const entry = this.#entryOf(credentialId, target, owner)
    const remainingMs = entry.token === undefined ? 0 : entry.token.expiresAt - this.#now()
    if (entry.token === undefined || remainingMs < USABLE_MS)
      return this.#renew(entry, exchange, target, owner)
    if (remainingMs < RENEW_MS)
      runGuarded('the renewal of an access token', this.#onException, () =>
        this.#renew(entry, exchange, target, owner),
      )
    return entry.token.token
  }

  /** Drops a token that the provider rejected. A token renewed since then stays. */
  drop(credentialId: string, token: string): void {
    const entry = this.#entries.find(credentialId)
    if (entry?.token?.token === token) entry.token = undefined
  }

  #renew(entry: Entry, exchange: TokenExchange, target: Target, owner: LookupOwner): Promise<TokenResult> {
    const { rejection } = entry
    if (rejection !== undefined && this.#now() < rejection.until) return Promise.resolve(rejection.answer)
    entry.running ??= exchange(target, { policy: chargeLookupsTo(this.#policy, owner), now: this.#now() })
      .then(answer => {
        if (answer.ok) entry.token = answer.value
        const isRejected = !answer.ok && answer.error.kind === 'auth'
        entry.rejection = isRejected ? { answer, until: this.#now() + REJECTED_MS } : undefined
        return answer
      })
      .finally(() => {
        entry.running = undefined
      })
    return entry.running
  }

  /** Returns the entry of a credential. A changed key or changed options start a new one. */
  #entryOf(credentialId: string, { apiKey, options: given }: Target, owner: LookupOwner): Entry {
    const options = JSON.stringify(given ?? {})
    const organization = toOrganization(owner)
    const known = this.#entries.use(organization, credentialId)
    if (known !== undefined && known.apiKey === apiKey && known.options === options) return known
    const entry: Entry = { apiKey, options, token: undefined, rejection: undefined, running: undefined }
    this.#entries.set(organization, credentialId, entry)
    return entry
  }
}
