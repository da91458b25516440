import type { Json, JsonObject } from '../json/json-value.ts'
import type { JsonTexts } from './json-texts.ts'
import { isSendableText, type MediaAddresses } from './media-addresses.ts'
import { STORED_STATE } from './reserved-lists.ts'
import { MAX_DEPTH, MAX_NAME, STORED_STATE_WORDS, toPlainName } from './reserved-names.ts'

/**
 * What a client token may not reach in values that the gateway does not read: what the provider stores, and addresses that it would
 * fetch. A name means something in settings and in content of unknown kinds. In what a provider only shows to its model, none does.
 */

/** Fields by which a body reaches what a provider stores: an uploaded file, a stored answer, an object of the account. */
const STORED_NAMES: ReadonlySet<string> = new Set(
  ['file_id', 'file_ids', 'store', 's3_location', 'session_id', 'user_profile_id', ...STORED_STATE].map(
    toPlainName,
  ),
)

/** Words for ids of what an account keeps. Keys may send them. */
const STORED_ID_WORDS =
  /(?:attachment|base|cache|document|file|memory|skill|store|upload)ids?$|storenames?$|ragcorpor[ao]$|datastores?$/
/** A text that is an id of a file as a whole, which `files` may list without a name of its own. A file's name has an extension. */
const FILE_ID = /^\s*file[-_][a-z\d-]{16,}\s*$/i

/** Schemas of an answer. The caller chooses the names in them. */
const SCHEMAS: ReadonlySet<string> = new Set(
  [
    ...['response_format', 'response_schema', 'response_json_schema', 'json_schema', 'schema'],
    ...['guided_json', 'structured_outputs'],
  ].map(toPlainName),
)

function isStoredName(plain: string): boolean {
  if (STORED_NAMES.has(plain)) return true
  return plain.length <= MAX_NAME && (STORED_STATE_WORDS.test(plain) || STORED_ID_WORDS.test(plain))
}

/**
 * Returns the path of the first setting, at any depth, that reaches what the provider stores, or names an address that it may not
 * be asked to fetch. It begins with `name`. `listName`: of the list that `given` stands in. A text that holds JSON counts as that JSON.
 */
export function findStoredState(
  name: string,
  given: Json,
  texts: JsonTexts,
  addresses: MediaAddresses = 'any',
  depth = 0,
  listName = name,
): string | undefined {
  if (given === null || given === false) return undefined
  if (!texts.addName(name)) return name
  const plain = toPlainName(name)
  if (isStoredName(plain)) return name
  if (SCHEMAS.has(plain)) return undefined
  const value = typeof given === 'string' ? texts.read(given) : given
  if (value === undefined) return name
  if (plain === 'documents') return findInContent('documents', name, value, addresses, texts)
  if (typeof value === 'string') return isSendable(listName, value, addresses) ? undefined : name
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return name
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = findStoredState('', value[at] as Json, texts, addresses, depth + 1, listName)
      if (found !== undefined) return `${name}[${at}]${found}`
    }
    return undefined
  }
  for (const inner in value) {
    const found = findStoredState(inner, value[inner] as Json, texts, addresses, depth + 1)
    if (found !== undefined) return `${name}.${found}`
  }
  return undefined
}

function isSendable(name: string, text: string, addresses: MediaAddresses): boolean {
  return !(/^files?$/i.test(name) && FILE_ID.test(text)) && isSendableText(name, text, addresses)
}

/**
 * What is looked through. `unknown`: content of a kind that the gateway does not know. `documents`: they are shown to the model, and may be files
 * by their ids. `echo`: what a provider wrote beside an answer, as clients send it back.
 */
type Content = 'unknown' | 'documents' | 'echo'

/** Fields by which the citations and annotations of any provider name a file, or the container that it was made in. */
const REFERENCES: ReadonlySet<string> = new Set(
  ['file_id', 'file_ids', 'container', 'container_id', 'cached_content', 's3_location'].map(toPlainName),
)

/** Plain names of texts, and lists of them, that every provider shows to its model, whatever they look like. */
const SHOWN_TEXTS: ReadonlySet<string> = new Set(
  [
    ...[
      'text',
      'content',
      'cited_text',
      'title',
      'refusal',
      'thinking',
      'reasoning',
      'summary',
      'transcript',
    ],
    ...['code', 'commands', 'diff', 'lines', 'logs', 'message', 'output', 'stderr', 'stdout'],
    ...['arguments', 'page_content', 'pattern', 'queries', 'query', 'snippet'],
  ].map(toPlainName),
)

/** Types of objects whose `url` tells where a search or a fetch of the provider went. */
const VISITS: ReadonlySet<Json> = new Set([
  'web_search_result',
  'web_fetch_result',
  'open_page',
  'find_in_page',
])

/**
 * Returns the path, from `value`, of the first part of unknown content that reaches what the provider stores, or names an address
 * that it may not be asked to fetch. No provider reads a text of its messages as JSON.
 */
export function findStoredContent(
  name: string,
  value: Json,
  addresses: MediaAddresses,
  texts: JsonTexts,
): string | undefined {
  return findInContent('unknown', name, value, addresses, texts)
}

/** Returns the path of the first reference to a stored file in what a provider wrote beside an answer. */
export function findReference(value: Json, texts: JsonTexts): string | undefined {
  return findInContent('echo', '', value, 'any', texts)
}

function findInContent(
  kind: Content,
  name: string,
  value: Json,
  addresses: MediaAddresses,
  texts: JsonTexts,
  depth = 0,
  listName = name,
): string | undefined {
  if (value === null || value === false) return undefined
  if (name !== '' && !texts.addContentName(name)) return name
  if (isStoredIn(kind, toPlainName(name))) return name
  if (typeof value === 'string') {
    const isFree =
      kind === 'echo' || SHOWN_TEXTS.has(toPlainName(listName)) || isSendable(listName, value, addresses)
    return isFree ? undefined : name
  }
  if (typeof value !== 'object') return undefined
  if (depth > MAX_DEPTH) return name
  if (!Array.isArray(value)) return findInFields(kind, name, value, addresses, texts, depth)
  for (let at = 0; at < value.length; at++) {
    const found = findInContent(kind, '', value[at] as Json, addresses, texts, depth + 1, listName)
    if (found !== undefined) return `${name}[${at}]${found}`
  }
  return undefined
}

function findInFields(
  kind: Content,
  name: string,
  object: JsonObject,
  addresses: MediaAddresses,
  texts: JsonTexts,
  depth: number,
): string | undefined {
  const isVisit = VISITS.has(object.type ?? null)
  for (const inner in object) {
    const value = object[inner] as Json
    if (isVisit && inner === 'url' && typeof value === 'string') continue
    const found = findInContent(kind, inner, value, addresses, texts, depth + 1)
    if (found !== undefined) return `${name}.${found}`
  }
  return undefined
}

function isStoredIn(kind: Content, plain: string): boolean {
  if (kind === 'unknown') return isStoredName(plain)
  return (kind === 'documents' ? STORED_NAMES : REFERENCES).has(plain)
}
