import type { JsonBounds } from './json-bounds.ts'

const MiB = 1024 * 1024

/** Of a body on either host, unless its route says less or more. */
export const BODY_LIMIT_BYTES = 10 * MiB
/** Of what is shaped like a chat, which carries images, and of requests for images. */
export const CHAT_BODY_LIMIT_BYTES = 32 * MiB
/** On the control plane, where nobody in particular calls or nothing is told: a password, a token and a few names. */
export const SHORT_BODY_LIMIT_BYTES = 64 * 1024

/**
 * What a model is asked. OpenAI takes 300,000 tokens in one request for embeddings, each of which may be a number here; an
 * agent's conversation of 50,000 messages has 100,000 strings with their names. At these bounds parsing takes half a
 * second and 50 MB of values at most, in slices (decision 0023).
 */
export const REQUEST_BOUNDS: JsonBounds = {
  maxValues: 1_000_000,
  maxParts: 262_144,
  maxFields: 1_024,
  maxNameBytes: 16 * 1024,
}

/** What is configured: the longest list of the API has 1,000 entries. */
export const CONTROL_BOUNDS: JsonBounds = {
  maxValues: 10_000,
  maxParts: 10_000,
  maxFields: 256,
  maxNameBytes: 1_024,
}

/** What comes without a credential. */
export const PUBLIC_BOUNDS: JsonBounds = {
  maxValues: 256,
  maxParts: 512,
  maxFields: 64,
  maxNameBytes: 1_024,
}
