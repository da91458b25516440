import type { JsonObject } from '../../json/json-value.ts'
import { ReservedFieldError } from '../../upstream/authorize-request.ts'
import { findReserved, findReservedField, toPlainName } from '../../upstream/reserved-names.ts'
import { invalid } from './read-fields.ts'
import { RequestError } from './request-error.ts'

/**
 * Refuses, by its path, what no caller may slip past the gateway in `provider_options` or as an unknown field of a surface
 * (contract.md §3). What was missed here is not sent either: see outgoing-body.ts of the llm package.
 */

const REASON = 'may not be set here: the gateway authorizes, prices or relies on it.'

export function refuseReservedOptions(options: JsonObject, path: string): void {
  const found = findReserved(options, path)
  if (found !== undefined) throw invalid(found, REASON)
}

/** For a field that is never sent: whatever becomes of others, its name may not be one of these. */
export function refuseReservedName(name: string, at: string): void {
  if (findReservedField(name, undefined, at) !== undefined) throw invalid(at, REASON)
}

/**
 * For a body, or an object in one: `known` fields have their own checks, the rest passes on except for what options may
 * not have, and for what is a known name in other letters.
 */
export function refuseReservedFields(body: JsonObject, known: ReadonlySet<string>, path?: string): void {
  for (const name in body) {
    const value = body[name]
    if (value === null || known.has(name)) continue
    const at = path === undefined ? name : `${path}.${name}`
    if (toPlainNames(known).has(toPlainName(name))) throw otherLetters(at)
    const found = findReservedField(name, value, at)
    if (found !== undefined) throw invalid(found, REASON)
  }
}

const PLAIN_NAMES = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>()

function toPlainNames(known: ReadonlySet<string>): ReadonlySet<string> {
  let plain = PLAIN_NAMES.get(known)
  if (plain === undefined) {
    plain = new Set([...known].map(toPlainName))
    PLAIN_NAMES.set(known, plain)
  }
  return plain
}

function otherLetters(param: string): RequestError {
  return new RequestError(
    'request_validation_failed',
    'A field name is written in other letters than it has.',
    {
      param,
    },
  )
}

/** What the last look at a body found (see authorizeRequest), as what its caller is told; anything else as it is. */
export function fromReservedField(thrown: unknown): unknown {
  return thrown instanceof ReservedFieldError ? invalid(thrown.path, REASON) : thrown
}

/** Of OpenAI's formats: where an answer of the usual price may be asked for, but no other. */
export function refuseOtherTier(tier: JsonObject[string]): void {
  if (tier === undefined || tier === null || tier === 'auto' || tier === 'default') return
  throw invalid(
    'service_tier',
    'must be auto or default: other tiers have prices that the gateway does not know.',
  )
}
