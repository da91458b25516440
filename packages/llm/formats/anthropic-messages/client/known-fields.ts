import { toOwnNames } from '../../../upstream/outgoing-body.ts'

/** What the gateway reads, or what changes nothing but the answer. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
  'cache_control',
])

/** Reserved fields and the one value that they may have. */
export const USUAL_VALUES: ReadonlyMap<string, string> = new Map([
  ['speed', 'standard'],
  ['inference_geo', 'global'],
])

export const OWN_NAMES = toOwnNames([...KNOWN_FIELDS, ...USUAL_VALUES.keys()])
