import type { Json, JsonObject } from '../json/json-value.ts'

/**
 * Names of what the gateway authorizes, prices or relies on, in the words of every format: no caller sets them where a
 * body is only passed on or merged (contract.md §3).
 */

/** Other names for the model: the gateway authorizes one, the provider would take another. */
const OTHER_MODELS = [
  'models',
  'model_id',
  'model_name',
  'model_uri',
  'route',
  'routes',
  'routing',
  'fallback',
  'fallbacks',
  'fallback_model',
  'fallback_models',
  'model_fallbacks',
  'provider_fallbacks',
  'backup_models',
  'plugins',
  'engine',
  'deployment',
  'deployment_id',
  'inference_profile',
  'inference_profile_arn',
  'model_config',
  'routing_config',
  'model_selection_config',
  // A stored set of parameters, which may name a model; and a second model that judges the first one's answer.
  'preset',
  'safety_model',
]

/** Priced apart from tokens, or at a multiple of them; no catalogue here has those prices. */
const PRICED = [
  'best_of',
  'num_return_sequences',
  'num_generations',
  'num_completions',
  'use_beam_search',
  'beam_width',
  'num_beams',
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
  'system_tool',
  'server_tools',
  'hosted_tools',
  'google_search',
  'google_search_retrieval',
  'code_execution',
  'url_context',
  'file_search',
  // Several times the price of a token, for speed or for a region.
  'speed',
  'inference_geo',
  'performance_config',
  // Searches the web or the caller's own store.
  'connectors',
  // Judges what is said, by the piece of text.
  'guardrail_config',
]

/** What lives on at the provider: it is read again under an id that any of its account's callers may name. */
const KEPT_AT_PROVIDER = ['container', 'thread', 'previous_message_id', 'billing_policy']

/** What a format has a field for, or would be said beside it. */
const RELIED_ON = [
  'model',
  'messages',
  'contents',
  'input',
  'prompt',
  'prompt_variables',
  'system',
  'system_instruction',
  'instructions',
  'raw',
  'template',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'tool_config',
  'functions',
  'function_call',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_gen_len',
  'max_tokens_to_sample',
  'max_token_count',
  'num_predict',
  'n',
  'candidate_count',
  'response_modalities',
  'speech_config',
  'image_config',
  'service_tier',
  'previous_response_id',
  'conversation',
  'background',
  'cached_content',
]

/** As the first format that has each writes it. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...OTHER_MODELS,
  ...PRICED,
  ...KEPT_AT_PROVIDER,
  ...RELIED_ON,
])
const RESERVED: ReadonlySet<string> = new Set([...RESERVED_NAMES].map(toPlainName))

/** What a caller fills with names of its own, or whose names mean something else in there. */
const FREE: ReadonlySet<string> = new Set(
  [
    'metadata',
    'request_metadata',
    'client_metadata',
    'labels',
    'logit_bias',
    'response_format',
    'response_schema',
    'response_json_schema',
    'json_schema',
    'schema',
    'format',
    'guided_json',
    'structured_outputs',
    'output_config',
    'output_format',
    'text',
    'documents',
    'reasoning',
    'context_management',
    'max_price',
    // Names a model that OpenAI judges with, and charges nothing for.
    'moderation',
  ].map(toPlainName),
)

/** `maxOutputTokens`, `max_output_tokens` and `MAX-OUTPUT-TOKENS` are one name: some providers take several spellings. */
export function toPlainName(name: string): string {
  // Some parsers fold letters as Unicode does, by which a long s is an s.
  const folded = /^[\x20-\x7e]*$/.test(name) ? name : name.normalize('NFKC').toUpperCase()
  return folded.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** May an object of this name hold what it likes? */
export function isFreeName(name: string): boolean {
  return FREE.has(toPlainName(name))
}

function isReserved(name: string, plain: string): boolean {
  if (RESERVED.has(plain)) return true
  // Forms write `extra_body[model]`, and some servers read a dot as the same.
  return /[.[\]]/.test(name) && name.split(/[.[\]]+/).some(step => RESERVED.has(toPlainName(step)))
}

/** Deeper than any body: only a text can hold more (see readText). */
const MAX_DEPTH = 64

/** The path of the first reserved name among these fields and what they hold; undefined: there is none. */
export function findReserved(fields: JsonObject, path?: string, depth = 0): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const found = findReservedField(name, value, path === undefined ? name : `${path}.${name}`, depth)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same for one field that stands at `path`. */
export function findReservedField(
  name: string,
  given: Json | undefined,
  path: string,
  depth = 0,
): string | undefined {
  const plain = toPlainName(name)
  if (isReserved(name, plain)) return path
  if (FREE.has(plain) || given === null || given === undefined) return undefined
  // Images and audio have prices of their own.
  if (plain === 'modalities') return isTextAlone(given) ? undefined : path
  const value = typeof given === 'string' ? readText(given) : given
  const inner =
    typeof value === 'object' && value !== null ? findReservedWithin(value, path, depth + 1) : undefined
  return inner ?? (plain === 'provider' ? findHostChoice(value, path) : undefined)
}

function findReservedWithin(value: Json[] | JsonObject, path: string, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return path
  if (!Array.isArray(value)) return findReserved(value, path, depth)
  for (const [at, each] of value.entries()) {
    if (typeof each !== 'object' || each === null) continue
    const found = findReservedWithin(each, `${path}[${at}]`, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Forms can say an object by its text only, and some servers read it so in other bodies too. */
function readText(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

function isTextAlone(value: Json): boolean {
  return (Array.isArray(value) ? value : [value]).every(kind => kind === 'text')
}

const HOST_CHOICES: ReadonlySet<string> = new Set(['order', 'only', 'sort'])

/** A broker's choice of host: each host has its own price, and the catalogue has the cheapest one's. */
function findHostChoice(value: Json, path: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  for (const [name, choice] of Object.entries(value)) {
    if (HOST_CHOICES.has(toPlainName(name)) && choice !== null) return `${path}.${name}`
  }
  return undefined
}
