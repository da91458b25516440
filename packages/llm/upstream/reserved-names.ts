import { isObject, type Json, type JsonObject } from '../json/json-value.ts'
import { foldLetters } from './fold-letters.ts'
import { JsonTexts } from './json-texts.ts'
import {
  DEFERRED,
  FREE,
  HOSTED_FIELDS,
  HOSTED_TOOL_FIELD,
  OTHER_MODELS,
  OTHER_SERVERS,
  PRICED,
  RELIED_ON,
  STORED_STATE,
} from './reserved-lists.ts'

/**
 * Names of fields that the gateway authorizes, prices or relies on, in every format. A caller may set such a field only
 * where it belongs to the format and has checks of its own: never in provider options or inside an unknown field.
 */

/**
 * A longer name is never a spelling of a reserved one. Those of the lists have 25 characters at most, each of which may be written as two
 * units in other letters, and the words are looked for in names of this length.
 */
export const MAX_NAME = 64
/** A longer name never stands for nested ones. */
const MAX_NESTED = 200

/** Each in one spelling. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...OTHER_MODELS,
  ...OTHER_SERVERS,
  ...PRICED,
  ...HOSTED_FIELDS,
  ...STORED_STATE,
  ...DEFERRED,
  ...RELIED_ON,
])
const RESERVED: ReadonlySet<string> = new Set([...RESERVED_NAMES].map(toPlainName))

/**
 * Words by which the plain name of any field means another model, another server with its key, or the output cap: proxies
 * have many names for them, such as `context_window_fallback_dict` and `draft_model`.
 */
const RESERVED_WORDS =
  /fallback|models?$|models?(?:alias|group|id|info|key|map|name|override|path|preference|ref|router|selection|version)|^routers?(?:config|options|settings)?$|deployment(?:id|name)?$|api(?:base|key)$|customllmprovider/
/** Words for the most that is written. What bounds input, or reasoning within the answer, is free. */
const CAP_WORDS =
  /maxnewtokens|max(?!(?:context|input|prompt|reasoning|thinking)tokens)[a-z]*tokens?$|tokens?limit$|(?:gen|generation|output|response)len(?:gth)?$/
/** Words for weights that change a model, by their name, path or address. */
const WEIGHT_WORDS =
  /^(?:image)?loras?(?:adapter|id|name|path|request|source|ur[il]|weight)?s?$|adapters?(?:id|name|path|source)?s?$/
/** Words for where else a server or a proxy sends the request or the answer, or whose account it uses there. */
const PLACE_WORDS =
  /(?:endpoint|host|header|cookie)s?$|(?:api|base|endpoint|server|wx)ur[il]$|(?:callback|notification|notify|webhook)(?:ur[il])?s?$|^(?:aws|vertex(?:ai)?)[a-z]*(?:credentials?|endpoint|key|location|profile|profilename|project|region|regionname|rolename|sessionname|token)$|^(?:arize|gcs|langfuse|langsmith|posthog)[a-z]|^outputs?(?:bucket|location|s3|ur[il])|bucket(?:name)?$/
/** Words for who asks there, and for how often. */
const ACCESS_WORDS =
  /azureadtoken$|(?:access|auth|bearer|refresh|security|session)token$|(?:access|private|public|secret)key$|(?:credential|password|secret)s?$|tenantid$|retries$|retry(?:policy|strategy)$|cachenamespace$/
/** Words for tools that a provider runs, and for filters of its own. */
const HOSTED_WORDS =
  /(?<!disable)websearch(?!disabled$)|toolsets?$|^mcp(?:config|connector|server|tool)?s?$|guardrail/
/** A request may say that there is no other model. */
const UNRESERVED: ReadonlySet<string> = new Set(['allowfallbacks', 'disablefallback', 'disablefallbacks'])
/** Words for a number of images: each has a price of its own. */
const IMAGE_WORDS =
  /^(?:n|num|number|numberof|total|max)(?:image|picture|sample|output|variation|variant)s?(?:per[a-z]+)?$|^(?:n|num|number|numberof)results?$|^(?:image|picture|sample|batch|output|variation|variant)s?count$|^batchsize$|samples$|dynamicpatch(?:es)?$|(?:max|min|total)pixels$/
/** Words for a number of answers, such as `n_cmpl` of llama.cpp's server. */
const ANSWER_WORDS =
  /^(?:n|num|number|numberof|total)(?:answer|candidate|choice|cmpl|completion|generation|reply|replie|response|sequence)s?(?:per[a-z]+)?$|^(?:answer|candidate|choice|completion|generation|response)s?count$|^bestofn?$|^n(?:um)?return(?:ed|s)?$|beam(?:size|width)?s?$/
export const STORED_STATE_WORDS = /(?:container|thread|conversation|response)ids?$/
const WORDS = [
  ...[RESERVED_WORDS, CAP_WORDS, WEIGHT_WORDS, PLACE_WORDS, ACCESS_WORDS, HOSTED_WORDS, HOSTED_TOOL_FIELD],
  ...[IMAGE_WORDS, ANSWER_WORDS, STORED_STATE_WORDS],
]

/** Objects in which no name is reserved. Edits of the context have checks of their own. */
const FREE_NAMES: ReadonlySet<string> = new Set([...FREE, 'context_management'].map(toPlainName))

/**
 * Lower-case letters and digits of a name: `maxOutputTokens`, `max_output_tokens` and `MAX-OUTPUT-TOKENS` are one name,
 * since some providers accept several spellings.
 */
export function toPlainName(name: string): string {
  if (name.length > MAX_NAME || /^[a-z0-9]*$/.test(name)) return name
  return foldLetters(name)
}

export function isReservedName(name: string): boolean {
  return isReservedPlain(toPlainName(name))
}

function isReservedPlain(plain: string): boolean {
  if (RESERVED.has(plain)) return true
  if (plain.length > MAX_NAME || UNRESERVED.has(plain)) return false
  return WORDS.some(words => words.test(plain))
}

/** The most fields that one name may stand for. Each costs as much to check as a name of its own. */
const MAX_STEPS = 4

/**
 * Returns the fields for which one name stands: some servers read `extra_body[model]` and `extra_body.model` as nested ones. Empty: it is
 * no such name. undefined: they are too many.
 */
export function toNestedNames(name: string): readonly string[] | undefined {
  if (name.length > MAX_NESTED || !/[.[\]]/.test(name)) return []
  // A bracket at an end leaves an empty step there.
  const steps = name.split(/[.[\]]+/, MAX_STEPS + 3).filter(step => step !== '')
  return steps.length > MAX_STEPS ? undefined : steps
}

function isReserved(name: string, plain: string, texts: JsonTexts): boolean {
  if (isReservedPlain(plain)) return true
  const nested = toNestedNames(name)
  if (nested === undefined) texts.unchecked = 'nested'
  return nested === undefined || nested.some(step => !texts.addName(step) || isReservedName(step))
}

/** The limit on a body's depth. Only JSON inside a string can be deeper. */
export const MAX_DEPTH = 64

/**
 * Returns the path of the first reserved field, at any depth, or undefined. Returns also the first field after the bound on names.
 * `texts`: of the body, if more of it is checked.
 */
export function findReserved(fields: JsonObject, texts = new JsonTexts(), depth = 0): string | undefined {
  for (const name in fields) {
    const found = findReservedField(name, fields[name], texts, depth)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Checks one field like findReserved. The path begins with its name. It is built on the way back from what was found, since a body
 * may have a hundred thousand lists.
 */
export function findReservedField(
  name: string,
  given: Json | undefined,
  texts: JsonTexts,
  depth = 0,
): string | undefined {
  if (!texts.addName(name)) return name
  const plain = toPlainName(name)
  if (isReserved(name, plain, texts)) return name
  if (FREE_NAMES.has(plain) || given === null || given === undefined) return undefined
  if (plain === 'reasoning') return findInReasoning(given, name, texts, depth)
  if (name === SECURITY_CONTEXT && isObject(given)) return findInSecurityContext(given, texts, depth)
  // Images and audio have prices of their own.
  if (plain === 'modalities') return isTextAlone(given) ? undefined : name
  // A string that holds JSON counts as that JSON: forms have no other way to send an object.
  const value = typeof given === 'string' ? texts.read(given) : given
  if (value === undefined) return name
  if (typeof value !== 'object' || value === null) return undefined
  const inner = findReservedWithin(value, texts, depth + 1)
  if (inner !== undefined) return joinRest(name, inner)
  return plain === 'provider' ? findHostChoice(value, name) : undefined
}

/** Returns the path from `value`, which is empty if it is nested too deeply. */
function findReservedWithin(value: Json[] | JsonObject, texts: JsonTexts, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return ''
  if (!Array.isArray(value)) return findReserved(value, texts, depth)
  for (let at = 0; at < value.length; at++) {
    const given = value[at]
    const inner = typeof given === 'string' ? texts.read(given) : given
    if (inner === undefined) return `[${at}]`
    if (typeof inner !== 'object' || inner === null) continue
    const found = findReservedWithin(inner, texts, depth + 1)
    if (found !== undefined) return joinRest(`[${at}]`, found)
  }
  return undefined
}

/** Joins a path and its rest, which begins with a name or with an index. */
export function joinRest(start: string, end: string): string {
  return end === '' || end.startsWith('[') ? start + end : `${start}.${end}`
}

function isTextAlone(value: Json): boolean {
  return (Array.isArray(value) ? value : [value]).every(kind => kind === 'text')
}

/** How a model reasons: in every other mode another model answers, at a price of its own. */
export const USUAL_REASONING_MODES: readonly Json[] = ['auto', 'standard']

/** What reasoning may spend is output, which the cap bounds. All other names mean in it what they mean elsewhere. */
function findInReasoning(given: Json, path: string, texts: JsonTexts, depth: number): string | undefined {
  const value = typeof given === 'string' ? texts.read(given) : given
  if (value === undefined) return path
  if (typeof value !== 'object' || value === null) return undefined
  const found = Array.isArray(value)
    ? findReservedWithin(value, texts, depth + 1)
    : findInReasoningFields(value, texts, depth + 1)
  return found === undefined ? undefined : joinRest(path, found)
}

function findInReasoningFields(fields: JsonObject, texts: JsonTexts, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return ''
  for (const name in fields) {
    const given = fields[name]
    if (!texts.addName(name)) return name
    const plain = toPlainName(name)
    if (plain === 'maxtokens') continue
    const isUsual = given === undefined || given === null || USUAL_REASONING_MODES.includes(given)
    if (plain === 'mode' && !isUsual) return name
    const found = findReservedField(name, given, texts, depth)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Who uses an application, for the security team of an Azure account. The tenant that it names is the end user's: another account is not
 * asked. Source: learn.microsoft.com, "AzureUserSecurityContext".
 */
const SECURITY_CONTEXT = 'user_security_context'
const USERS_TENANT = 'end_user_tenant_id'

function findInSecurityContext(given: JsonObject, texts: JsonTexts, depth: number): string | undefined {
  const others = Object.entries(given).filter(
    ([name, value]) => name !== USERS_TENANT || typeof value !== 'string',
  )
  const found = findReserved(Object.fromEntries(others), texts, depth + 1)
  return found === undefined ? undefined : joinRest(SECURITY_CONTEXT, found)
}

/** What a caller may prefer of a broker's hosts: a lower price, no further host, and privacy. */
const HOST_PREFERENCES: ReadonlySet<string> = new Set(['maxprice', 'allowfallbacks', 'zdr', 'datacollection'])

/**
 * A broker's hosts have different prices, and the catalogue has the cheapest one's. Whatever else orders or excludes hosts could
 * leave the dearest.
 */
function findHostChoice(value: Json, path: string): string | undefined {
  return findField(value, path, name => !HOST_PREFERENCES.has(name))
}

/** Returns the path of the first field of an object, by its plain name, that is not null and found. */
function findField(
  value: Json,
  path: string,
  isFound: (plain: string, value: Json) => boolean,
): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  for (const name in value) {
    const inner = value[name]
    if (inner === undefined || inner === null) continue
    if (isFound(toPlainName(name), inner)) return `${path}.${name}`
  }
  return undefined
}
