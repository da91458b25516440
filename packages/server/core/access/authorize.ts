import type { Refusal } from '../refusal.ts'
import type { Caller, Endpoint, Environment, Lifetime, Scope } from '../tenancy/tenancy.ts'
import { toAllowSet } from './allow-set.ts'

/** What a route requires of a credential. */
export interface Need {
  /** null: any key is accepted, whatever its restrictions (models, cancel). */
  readonly endpoint: Endpoint | null
  readonly scope: Scope | null
  /** True if client tokens may not call it, whatever their scopes. */
  readonly isForKeys?: true
  /** What the route makes: client tokens, or only a challenge for one. Absent: neither. */
  readonly makes?: 'token' | 'challenge'
}

/** Refuses a credential that was revoked or has expired. `now` is in Unix milliseconds. */
export function checkLifetime(
  lifetime: Lifetime,
  environment: Environment,
  now: number,
): Refusal | undefined {
  if (lifetime.revokedAt !== null || environment.deleted) {
    return { code: 'key_revoked', message: 'This credential was revoked.' }
  }
  if (lifetime.expiresAt !== null && lifetime.expiresAt <= now) {
    return { code: 'key_expired', message: 'This credential has expired.' }
  }
  return undefined
}

/** Refuses a caller that may not call this endpoint. */
export function checkEndpoint(caller: Caller, need: Need): Refusal | undefined {
  if (need.makes !== undefined) return checkMint(caller, need) ?? checkAllowed(caller, need)
  if (caller.kind === 'publishable') {
    return {
      code: 'endpoint_not_allowed',
      message:
        'A publishable key only mints client tokens; call this endpoint with a client token or a secret key.',
    }
  }
  if (need.isForKeys === true && caller.kind === 'client_token') {
    const message = `Client tokens may not call the endpoint ${need.endpoint}; call it with a secret key.`
    return { code: 'endpoint_not_allowed', message }
  }
  if (need.scope !== null && !caller.scopes.includes(need.scope)) {
    return { code: 'endpoint_not_allowed', message: `This credential lacks the scope ${need.scope}.` }
  }
  return checkAllowed(caller, need)
}

/** Refuses a caller that may not make client tokens in this way. */
function checkMint({ kind }: Caller, { endpoint, makes }: Need): Refusal | undefined {
  if (kind === 'client_token' && makes === 'token') {
    return { code: 'client_token_cannot_mint', message: 'A client token cannot make client tokens.' }
  }
  if (kind === 'publishable' || endpoint !== 'device') return undefined
  const message = "This route is for an app's publishable key; call it with no other credential."
  return { code: 'publishable_key_required', message }
}

function checkAllowed(caller: Caller, need: Need): Refusal | undefined {
  if (
    need.endpoint !== null &&
    caller.allowedEndpoints !== null &&
    !caller.allowedEndpoints.includes(need.endpoint)
  ) {
    return {
      code: 'endpoint_not_allowed',
      message: `This credential may not call the endpoint ${need.endpoint}.`,
    }
  }
  return undefined
}

/** Refuses a secret key sent by a browser, where every visitor can read it. */
export function checkOrigin(environment: Environment, origin: string | undefined): Refusal | undefined {
  if (origin === undefined || environment.allowSecretKeyInBrowser) return undefined
  return {
    code: 'endpoint_not_allowed',
    message:
      'A secret key was sent from a browser. Mint client tokens for browsers; keep secret keys on servers.',
  }
}

/**
 * Refuses a client token sent from another page than the project's own: its origin must be one of `allowedOrigins`, or
 * for a member's own token the origin of the dashboard at `baseUrl`.
 */
export function checkClientOrigin(
  caller: Caller,
  environment: Environment,
  origin: string,
  baseUrl: string,
): Refusal | undefined {
  if (environment.allowedOrigins.includes(origin)) return undefined
  if (caller.keyId === null && origin === new URL(baseUrl).origin) return undefined
  return {
    code: 'origin_not_allowed',
    message: "This page's origin is not one of the project's allowed_origins.",
  }
}

/**
 * Returns true if an allow-list includes a model. Entries are `provider/model`, `provider/*` or a bare name. `canonical` is
 * `provider/model`, or the requested name if it did not resolve. An entry that is one of `aliases` allows that alias only,
 * not a model of the same name.
 */
export function isModelAllowed(
  allowed: readonly string[] | null,
  canonical: string,
  requested: string,
  aliases?: ReadonlyMap<string, unknown>,
): boolean {
  if (allowed === null) return true
  const entries = toAllowSet(allowed)
  if (entries.has(canonical)) return true
  const slash = canonical.indexOf('/')
  if (slash >= 0 && entries.has(`${canonical.slice(0, slash)}/*`)) return true
  return hasBareName(entries, requested, aliases) || hasBareName(entries, canonical.slice(slash + 1), aliases)
}

function hasBareName(
  entries: ReadonlySet<string>,
  name: string,
  aliases: ReadonlyMap<string, unknown> | undefined,
): boolean {
  return entries.has(name) && !name.includes('/') && aliases?.has(name) !== true
}
