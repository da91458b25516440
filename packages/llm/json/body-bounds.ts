import type { JsonBounds } from './json-bounds.ts'

const MiB = 1024 * 1024

/** The bound of a body on either plane, unless its route has another one. */
export const BODY_LIMIT_BYTES = 10 * MiB
/** The bound of requests for chats and token counts, which carry images, and of requests for images. */
export const CHAT_BODY_LIMIT_BYTES = 32 * MiB
/** The bound on the control plane for callers who are not authenticated yet: a password, a token and a few names. */
export const SHORT_BODY_LIMIT_BYTES = 64 * 1024

/**
 * A request to a model. OpenAI allows 300,000 tokens in one request for embeddings, each of which may be a number here. A
 * conversation of 12,000 short messages has 60,000 parts. With twice as many parts a step that follows parsing took up to 55 ms
 * once its code was compiled, and other requests are served between the steps (docs/decisions/0023-bounded-bodies.md).
 */
export const REQUEST_BOUNDS: JsonBounds = {
  maxValues: 1_000_000,
  maxParts: 65_536,
  maxFields: 1_024,
  maxNameBytes: 16 * 1024,
}

/**
 * A provider's whole answer: 2,048 vectors of 3,072 numbers each, or the 20 likeliest tokens beside each of 3,000 tokens.
 * A longer answer is a provider's mistake, or an attack through a custom base URL.
 */
export const ANSWER_BOUNDS: JsonBounds = {
  maxValues: 8_000_000,
  maxParts: 524_288,
  maxFields: 1_024,
  maxNameBytes: 16 * 1024,
}

/** One event of a provider's stream. */
export const EVENT_BOUNDS: JsonBounds = {
  maxValues: 262_144,
  maxParts: 32_768,
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
