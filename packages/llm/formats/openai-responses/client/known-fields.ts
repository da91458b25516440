import { toOwnNames } from '../../../upstream/outgoing-body.ts'

/** What the gateway reads, or what changes nothing but the answer. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning'],
  ...['max_output_tokens', 'temperature', 'top_p', 'user', 'metadata', 'stream', 'stream_options', 'store'],
  ...['include', 'service_tier', 'truncation', 'top_logprobs', 'background', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'client_metadata'],
  'max_tool_calls',
])

/** Fields that refer to state at the provider. */
export const STATE_FIELDS = ['previous_response_id', 'conversation']

export const OWN_NAMES = toOwnNames([...KNOWN_FIELDS, ...STATE_FIELDS])
