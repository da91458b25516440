import { toOwnNames } from '../../../upstream/outgoing-body.ts'

/** What of OpenAI's own request we read, price, or know to change neither price nor state. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'max_output_tokens',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'verbosity',
  'stream',
  'stream_options',
  'n',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'metadata',
  'service_tier',
  // Never on for a client token: see plan-chat.ts.
  'store',
])

/** The predecessors of `tools`. They pass on unread. */
export const OLD_TOOL_FIELDS = ['functions', 'function_call']

export const OWN_NAMES = toOwnNames([...KNOWN_FIELDS, ...OLD_TOOL_FIELDS])
