/** The endpoints that can call a provider: a request of each is metered and has a record in the log. */
export const LOGGED_ENDPOINTS = ['chat', 'count_tokens', 'embeddings', 'rerank', 'images', 'audio'] as const

export type LoggedEndpoint = (typeof LOGGED_ENDPOINTS)[number]
