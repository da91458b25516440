import { expect, test } from 'vitest'
import { estimateTokens } from './estimate.ts'

test('four bytes a token, rounded up; a text is counted in UTF-8', () => {
  expect([0, 1, 4, 5].map(estimateTokens)).toEqual([0, 1, 1, 2])
  expect(['', 'a', 'abcde', '漢字'].map(estimateTokens)).toEqual([0, 1, 2, 2])
})
