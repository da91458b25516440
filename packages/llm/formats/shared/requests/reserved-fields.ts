import type { JsonObject } from '../../../json/json-value.ts'
import { ReservedFieldError } from '../../../upstream/authorize-request.ts'
import { JsonTexts, MAX_NAME_CHARACTERS, type Unchecked } from '../../../upstream/json-texts.ts'
import {
  findReserved,
  findReservedField,
  isReservedName,
  toPlainName,
} from '../../../upstream/reserved-names.ts'
import { invalid } from '../reading/read-fields.ts'
import { RequestError } from '../reading/request-error.ts'

/**
 * Refuses reserved fields in `provider_options` and in unknown fields of a request, by their path. A second check runs on
 * the outgoing body: see outgoing-body.ts in the llm package.
 */

const REASON = 'may not be set here: the gateway authorizes, prices or relies on it.'
const UNCHECKED: Readonly<Record<Unchecked, string>> = {
  names: `may not be set here: up to ${MAX_NAME_CHARACTERS.toLocaleString('en-US')} characters of names are checked, each name counting as 8 to 200.`,
  nested: 'may not be set here: it stands for more than four nested fields, which are not checked.',
  text: 'may not be set here: its text may have fields that are not checked, since it is long or not well-formed JSON.',
}

/** Says what is the case with the field that was found. */
function toReason({ unchecked }: JsonTexts): string {
  return unchecked === undefined ? REASON : UNCHECKED[unchecked]
}

export function assertNoReservedOptions(options: JsonObject, path: string, texts = new JsonTexts()): void {
  const found = findReserved(options, texts)
  if (found !== undefined) throw invalid(`${path}.${found}`, toReason(texts))
}

/** Refuses a reserved name of a field that is never sent: the environment's setting does not apply to it. `texts`: of the body. */
export function assertNotReservedName(name: string, at: string, texts: JsonTexts): void {
  if (findReservedField(name, undefined, texts) !== undefined) throw invalid(at, toReason(texts))
}

/**
 * Refuses other spellings of `known` fields, and reserved fields in all others and in known objects. Reserved names among
 * the known ones, and the objects of `checked` names, have checks of their own. `texts`: of the body, if several parts of it are checked.
 */
export function assertNoReservedFields(
  body: JsonObject,
  known: ReadonlySet<string>,
  path?: string,
  checked = NONE,
  texts = new JsonTexts(),
): void {
  for (const name in body) {
    const value = body[name]
    const isKnown = known.has(name)
    if (isKnown && (typeof value !== 'object' || checked.has(name) || isReservedName(name))) continue
    const at = path === undefined ? name : `${path}.${name}`
    if (!isKnown && toPlainNames(known).has(toPlainName(name))) throw otherLetters(at)
    // Null means absent.
    if (value === null) continue
    const found = findReservedField(name, value, texts)
    if (found !== undefined) throw invalid(path === undefined ? found : `${path}.${found}`, toReason(texts))
  }
}

const NONE: ReadonlySet<string> = new Set()

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

/** Turns the error of authorizeRequest into a fault; returns anything else unchanged. */
export function fromReservedField(thrown: unknown): unknown {
  if (!(thrown instanceof ReservedFieldError)) return thrown
  const { path, isForKeys, accepted } = thrown
  return invalid(path, accepted ?? (isForKeys ? 'is not accepted from a client token.' : REASON))
}

/** Refuses service tiers of OpenAI's formats that have another price. */
export function assertUsualTier(tier: JsonObject[string]): void {
  if (tier === undefined || tier === null || tier === 'auto' || tier === 'default') return
  throw invalid(
    'service_tier',
    'must be auto or default: other tiers have prices that the gateway does not know.',
  )
}
