import type { JsonObject } from '@rideau/llm/spec'
import { invalid } from './fields.ts'

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
]

/** Priced apart from tokens; no catalogue here has those prices. */
const PRICED = ['best_of', 'web_search_options', 'search_parameters', 'web_search', 'search', 'prediction']

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
]

const RESERVED_OPTIONS: ReadonlySet<string> = new Set([...MODEL_LISTS, ...PRICED, ...OWN])
const RESERVED_REST: ReadonlySet<string> = new Set([...MODEL_LISTS, ...PRICED])

/** Names that the gateway authorizes, prices or relies on: a case variant of one is refused on every surface. */
export const PROTECTED_NAMES: ReadonlySet<string> = RESERVED_OPTIONS

export function refuseReservedOptions(options: JsonObject, path: string): void {
  for (const name in options) {
    if (RESERVED_OPTIONS.has(name.toLowerCase())) {
      throw invalid(`${path}.${name}`, 'may not be set here: the gateway authorizes, prices or relies on it.')
    }
  }
}

/** For a compat body: known fields have their own checks, the rest passes on except for these. */
export function refuseReservedRest(body: JsonObject): void {
  for (const name in body) {
    if (RESERVED_REST.has(name) && body[name] !== null) {
      throw invalid(name, 'may not be set here: the gateway authorizes, prices or relies on it.')
    }
  }
  const tier = body.service_tier
  if (tier !== undefined && tier !== null && tier !== 'auto' && tier !== 'default') {
    throw invalid(
      'service_tier',
      'must be auto or default: other tiers have prices that the gateway does not know.',
    )
  }
}
