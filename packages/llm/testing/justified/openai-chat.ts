import type { Justification } from '../explain-differences.ts'

/** Why what the gateway sends differs from what a provider was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/stream_options', why: 'A stream is always asked for its usage, or nobody could bill it.' },
  { path: '/stream_options/include_usage', why: 'As stream_options.' },
  {
    path: '/messages/*/reasoning_content',
    of: 'deepseek/',
    why: 'These models did not think; one that does answers 400 to a call without its thought, and all take a blank.',
  },
  { path: '/n', of: 'groq/', why: 'It takes one choice, which is what is done without the field.' },
  { path: '/reasoning_effort', of: 'deepseek/', why: 'It knows high and max; lower ones mean high there.' },
  {
    path: '/model',
    of: 'azure/',
    why: 'The address named the deployment, and the body none.',
  },
  {
    path: '/store',
    of: 'canonical storeDisabledParam',
    why: 'The canonical request has no such field; false is what happens without.',
  },
  {
    path: '/safety_identifier',
    of: 'canonical safetyIdentifierParam',
    why: 'The canonical request has no such field: it is one provider’s own, and goes through as received bytes only.',
  },
  { path: '/stream', of: 'canonical', why: 'The recorder left it to the client library to set.' },
]
