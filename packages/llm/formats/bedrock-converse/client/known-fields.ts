import { toOwnNames } from '../../../upstream/outgoing-body.ts'

/** What the gateway reads, or what changes nothing but the answer. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'outputConfig',
  'additionalModelRequestFields',
  'additionalModelResponseFieldPaths',
  'requestMetadata',
  'serviceTier',
  'performanceConfig',
])

export const INFERENCE_FIELDS: ReadonlySet<string> = new Set([
  'maxTokens',
  'temperature',
  'topP',
  'stopSequences',
])

export const OWN_NAMES = toOwnNames(
  [...KNOWN_FIELDS].filter(name => name !== 'additionalModelRequestFields'),
  { inferenceConfig: [...INFERENCE_FIELDS], toolConfig: ['tools', 'toolChoice'] },
)
