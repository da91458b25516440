import type { Endpoint, Environment, Key, Scope } from './tenancy.ts'
import type { Refusal } from './verdict.ts'

/** What a route asks of a credential. */
export interface Need {
  /** null: any key that the gateway knows, whatever its restrictions (models, cancel). */
  readonly endpoint: Endpoint | null
  readonly scope: Scope | null
}

/** Is the key alive at `now` (Unix milliseconds)? */
export function refuseDeadKey(key: Key, environment: Environment, now: number): Refusal | undefined {
  if (key.revokedAt !== null || environment.deleted) {
    return { code: 'key_revoked', message: 'This key was revoked.' }
  }
  if (key.expiresAt !== null && key.expiresAt <= now) {
    return { code: 'key_expired', message: 'This key is past its expiry.' }
  }
  return undefined
}

/** May this key call this endpoint? */
export function refuseEndpoint(key: Key, need: Need): Refusal | undefined {
  if (key.kind === 'publishable') {
    return {
      code: 'endpoint_not_allowed',
      message:
        'A publishable key only mints client tokens; call this endpoint with a client token or a secret key.',
    }
  }
  if (need.scope !== null && !key.scopes.includes(need.scope)) {
    return { code: 'endpoint_not_allowed', message: `This key lacks the scope ${need.scope}.` }
  }
  if (
    need.endpoint !== null &&
    key.allowedEndpoints !== null &&
    !key.allowedEndpoints.includes(need.endpoint)
  ) {
    return { code: 'endpoint_not_allowed', message: `This key may not call the endpoint ${need.endpoint}.` }
  }
  return undefined
}

/** A secret key has no business in a browser, where every visitor can read it. */
export function refuseOrigin(environment: Environment, origin: string | undefined): Refusal | undefined {
  if (origin === undefined || environment.allowSecretKeyInBrowser) return undefined
  return {
    code: 'endpoint_not_allowed',
    message:
      'A secret key was sent from a browser. Mint client tokens for browsers; keep secret keys on servers.',
  }
}

/**
 * Does an allow-list let this model through? Entries are `provider/model`, `provider/*`, or a bare name.
 * `canonical` is `provider/model`; where the name resolved to nothing it is the name as asked. An entry that is one of
 * `aliases` means that alias, and opens no model of the same name.
 */
export function isModelAllowed(
  allowed: readonly string[] | null,
  canonical: string,
  asked: string,
  aliases?: ReadonlyMap<string, unknown>,
): boolean {
  if (allowed === null) return true
  const slash = canonical.indexOf('/')
  const provider = slash < 0 ? undefined : canonical.slice(0, slash)
  return allowed.some(
    entry =>
      entry === canonical ||
      (provider !== undefined && entry === `${provider}/*`) ||
      (!entry.includes('/') &&
        (entry === asked || entry === canonical.slice(slash + 1)) &&
        aliases?.has(entry) !== true),
  )
}
