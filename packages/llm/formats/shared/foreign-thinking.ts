/**
 * Callers of this format keep thinking only with a signature. Another provider's thinking gets this one, so that it is
 * known when it comes back: no Anthropic server takes it.
 */
export const FOREIGN_SIGNATURE = 'rideau-thinking'
