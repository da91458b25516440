import { assertKnownFields, invalid, textsAt } from '@rideau/llm/formats/shared/reading/read-fields'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import { MAX_TOKEN_SECONDS } from '../../core/access/client-token.ts'
import { Fault } from '../../core/fault.ts'
import { type Caller, SCOPES, type Scope } from '../../core/tenancy/tenancy.ts'

const DEFAULT_SECONDS = 900

/** Returns the scopes in the order of SCOPES. Throws `invalid_scope` for none, and for one that the key does not have. */
export function parseScopes(given: Json | undefined, { scopes: allowed }: Caller): readonly Scope[] {
  const named = given === undefined || given === null ? [] : textsAt(given, 'scopes')
  if (named.length === 0) {
    throw invalidScope(`scopes: must name at least one of ${allowed.join(', ')}.`)
  }
  const wrong = named.find(name => !allowed.some(scope => scope === name))
  if (wrong !== undefined) {
    throw invalidScope(`scopes: ${wrong} is not a scope of this key; it has ${allowed.join(', ')}.`)
  }
  return SCOPES.filter(scope => named.includes(scope))
}

/** Returns the scopes like `parseScopes`, by default every scope of the key. */
export function parseScopesOrAll(given: Json | undefined, caller: Caller): readonly Scope[] {
  return parseScopes(given === undefined || given === null ? [...caller.scopes] : given, caller)
}

function invalidScope(message: string): Fault {
  return new Fault('invalid_scope', message, { param: 'scopes' })
}

/** Returns the lifetime that was asked for, in seconds. */
export function parseLifetime(body: JsonObject): number {
  const name = chooseName(body, 'ttl_seconds', 'expires_in')
  const given = body[name] ?? DEFAULT_SECONDS
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 1 || given > MAX_TOKEN_SECONDS) {
    throw invalid(name, `must be a whole number of seconds from 1 to ${MAX_TOKEN_SECONDS}.`)
  }
  return given
}

/** Returns the one of a field's two names that has a value; the first if none has. Throws if both have. */
export function chooseName(body: JsonObject, name: string, synonym: string, path = ''): string {
  if (body[synonym] === undefined || body[synonym] === null) return name
  if (body[name] === undefined || body[name] === null) return synonym
  throw invalid(path + synonym, `must not be sent together with ${path + name}, which means the same.`)
}

/**
 * Throws for a field that is not one of `own`. `others` are fields that the route takes from other callers: typed clients send
 * null for them, which means absent.
 */
export function assertOwnFields(
  body: JsonObject,
  own: ReadonlySet<string>,
  others: ReadonlySet<string>,
  path = '',
): void {
  const absent = [...others].filter(name => body[name] === null)
  assertKnownFields(body, absent.length === 0 ? own : new Set([...own, ...absent]), path)
}
