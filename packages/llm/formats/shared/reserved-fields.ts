import type { Json, JsonObject } from '../../json/json-value.ts'
import { invalid, isObject } from './read-fields.ts'
import { RequestError } from './request-error.ts'

/**
 * What no caller may slip past the gateway, in `provider_options` or as an unknown field of the compat surface
 * (contract.md §3): what it authorizes, what it relies on, and what changes the price in a way it cannot know.
 */

/** Other names for the model: the gateway authorizes one, the provider would take another. */
const MODEL_LISTS = [
  'models',
  'route',
  'routes',
  'fallbacks',
  'fallback_models',
  'provider_fallbacks',
  'plugins',
  // A stored set of parameters, which may name a model; and a second model that judges the first one's answer.
  'preset',
  'safety_model',
]

/** Priced apart from tokens, or at a multiple of them; no catalogue here has those prices. */
const PRICED = [
  'best_of',
  'num_return_sequences',
  'use_beam_search',
  'web_search_options',
  'search_parameters',
  'search_settings',
  'search_options',
  'enable_search',
  'web_search',
  'search',
  'prediction',
  'audio',
  'mcp_servers',
  'compound_custom',
  // Several times the price of a token, for speed or for a region.
  'speed',
  'inference_geo',
  'performance_config',
  // Searches the web or the caller's own store.
  'connectors',
  // Judges what is said, by the piece of text.
  'guardrail_config',
]

/** What the surface itself has a field for. */
const OWN = [
  'model',
  'messages',
  'input',
  'prompt',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'service_tier',
  // Of Responses: what is said, and what a provider keeps or does later.
  'instructions',
  'previous_response_id',
  'conversation',
  'background',
]

/** The same in the formats of other houses. Not a field of the compat surface, so only `provider_options` can have them. */
const OWN_ELSEWHERE = [
  'model_id',
  'contents',
  'system',
  'system_instruction',
  'instructions',
  'previous_response_id',
  'conversation',
  'background',
  'tool_config',
  'cached_content',
  'candidate_count',
  'response_modalities',
  'speech_config',
  'image_config',
  'routing_config',
  'model_config',
  'model_selection_config',
  'num_predict',
  'raw',
  'template',
  // Of a stored prompt, which brings its own model, messages and tools.
  'prompt_variables',
]

/** Objects that only gather fields: what they hold counts as if it stood beside them. */
const GATHERERS = new Set(
  [
    'generation_config',
    'inference_config',
    'additional_model_request_fields',
    'options',
    'parameters',
    'extra_body',
  ].map(toPlain),
)

const RESERVED_OPTIONS: ReadonlySet<string> = new Set(
  [...MODEL_LISTS, ...PRICED, ...OWN, ...OWN_ELSEWHERE].map(toPlain),
)
const RESERVED_REST: ReadonlySet<string> = new Set([...MODEL_LISTS, ...PRICED])

/** Names that the gateway authorizes, prices or relies on: a case variant of one is refused on every surface. */
export const PROTECTED_NAMES: ReadonlySet<string> = new Set([...MODEL_LISTS, ...PRICED, ...OWN])

const REASON = 'may not be set here: the gateway authorizes, prices or relies on it.'

export function refuseReservedOptions(options: JsonObject, path: string | undefined): void {
  for (const [name, value] of Object.entries(options)) {
    const at = path === undefined ? name : `${path}.${name}`
    const plain = toPlain(name)
    if (RESERVED_OPTIONS.has(plain)) throw invalid(at, REASON)
    if (GATHERERS.has(plain) && isObject(value)) refuseReservedOptions(value, at)
    refuseByValue(name, value, at)
  }
}

/** For a field that a surface does not read, in a format of another house: whatever becomes of others, never these. */
export function refuseReservedName(name: string, at: string): void {
  if (RESERVED_OPTIONS.has(toPlain(name))) throw invalid(at, REASON)
}

/** For a compat body: known fields have their own checks, the rest passes on except for these. */
export function refuseReservedRest(body: JsonObject): void {
  for (const name in body) {
    const value = body[name]
    if (RESERVED_REST.has(name) && value !== null) throw invalid(name, REASON)
    refuseByValue(name, value, name)
  }
  const tier = body.service_tier
  if (tier !== undefined && tier !== null && tier !== 'auto' && tier !== 'default') {
    throw invalid(
      'service_tier',
      'must be auto or default: other tiers have prices that the gateway does not know.',
    )
  }
}

/**
 * For a body of another house's format, or an object in one: `known` fields have their own checks, the rest passes on
 * except for what options may not have, and for what is a known name in other letters.
 */
export function refuseReservedFields(body: JsonObject, known: ReadonlySet<string>, path?: string): void {
  const rest: JsonObject = {}
  for (const name in body) {
    if (known.has(name) || body[name] === null) continue
    for (const each of known) if (toPlain(each) === toPlain(name)) throw otherLetters(name, path)
    rest[name] = body[name]
  }
  refuseReservedOptions(rest, path)
}

function otherLetters(name: string, path: string | undefined): RequestError {
  return new RequestError(
    'request_validation_failed',
    'A field name is written in other letters than it has.',
    {
      param: path === undefined ? name : `${path}.${name}`,
    },
  )
}

/** State that lives on at the provider: it is read again under an id that any of its account's callers may name. */
const KEPT_AT_PROVIDER: ReadonlySet<string> = new Set([
  'container',
  'thread',
  'previous_message_id',
  'billing_policy',
  'fallback',
])
/** What reserved fields say where they ask for nothing. */
const USUAL: JsonObject = { speed: 'standard', inference_geo: 'global' }

/** For a body of Anthropic's Messages: besides the same, what lives on at the provider. */
export function refuseReservedMessages(body: JsonObject): void {
  for (const name in body) {
    const value = body[name]
    const isReserved = RESERVED_REST.has(name) || KEPT_AT_PROVIDER.has(name)
    if (isReserved && value !== null && value !== USUAL[name]) throw invalid(name, REASON)
  }
  const tier = body.service_tier
  if (tier !== undefined && tier !== null && tier !== 'auto' && tier !== 'standard_only') {
    throw invalid('service_tier', 'must be auto or standard_only.')
  }
}

/** Fields of which only some values change what is paid. */
function refuseByValue(name: string, value: Json | undefined, at: string): void {
  if (name === 'modalities' && Array.isArray(value) && value.some(kind => kind !== 'text')) {
    throw invalid(at, 'must be text alone: images and audio have prices of their own.')
  }
  // A broker's choice of host: each host has its own price, and the catalogue has the cheapest one's.
  if (name === 'provider' && isObject(value)) {
    for (const choice of ['order', 'only', 'sort']) {
      if (value[choice] !== undefined && value[choice] !== null) throw invalid(`${at}.${choice}`, REASON)
    }
  }
}

/** `maxOutputTokens` and `max_output_tokens` are one name. */
function toPlain(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase()
}
