import type { Justification } from '../explain-differences.ts'

/** Why what the gateway sends to Cohere differs from what it was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/messages/1/content', of: 'tool-calls-and-history', why: 'null says what nothing says.' },
]
