import type { JsonBounds } from './json-bounds.ts'

const MiB = 1024 * 1024

/** The bound of a body on either plane, unless its route has another one. */
export const BODY_LIMIT_BYTES = 10 * MiB
/** The bound of requests for chats and token counts, which carry images, and of requests for images. */
export const CHAT_BODY_LIMIT_BYTES = 32 * MiB
/** The bound on the control plane for callers who are not authenticated yet: a password, a token and a few names. */
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
