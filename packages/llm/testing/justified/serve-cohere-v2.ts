import type { Justification } from '../explain-differences.ts'

/** Why a recorded request of Cohere's format, decoded and encoded again, is not word for word the same. */
export const JUSTIFIED: readonly Justification[] = [
  {
    path: '/messages/2/content/0/**',
    of: 'cites-tool-results',
    why: 'A document in a result is told as text, which every model reads; a body of this format passes through whole.',
  },
]
