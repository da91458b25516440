import { toOwnNames } from '../../../upstream/outgoing-body.ts'

/** Read by the gateway, or of no consequence to an answer: any target can do without the latter. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning'],
  ...['max_output_tokens', 'temperature', 'top_p', 'user', 'metadata', 'stream', 'stream_options', 'store'],
  ...['include', 'service_tier', 'truncation', 'top_logprobs', 'background', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'client_metadata'],
  'max_tool_calls',
])

/** Builds on what the provider keeps of an earlier request. */
export const STATE_FIELDS = ['previous_response_id', 'conversation']

export const OWN_NAMES = toOwnNames([...KNOWN_FIELDS, ...STATE_FIELDS])
