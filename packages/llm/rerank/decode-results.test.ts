import { expect, test } from 'vitest'
import { decodeResults } from './decode-results.ts'

const list = (count: number) => Array.from({ length: count }, (_, index) => ({ index, score: index / count }))

test('results come the best first', () => {
  const results = decodeResults(
    [
      { index: 1, score: 0.25 },
      { index: 0, score: 0.5 },
      { index: 2, score: 0.1 },
    ],
    'score',
  )
  expect(results?.map(({ index }) => index)).toEqual([0, 1, 2])
})

test.each([
  ['none', []],
  ['one without a score', [{ index: 0 }]],
  ['one without an index', [{ score: 1 }]],
  [
    'two of one document',
    [
      { index: 0, score: 1 },
      { index: 0, score: 0.5 },
    ],
  ],
  ['more than a request has documents', list(10_001)],
])('a list of results is no answer: %s', (_, results) => {
  expect(decodeResults(results, 'score')).toBeUndefined()
})

test('a list may have as many results as a request has documents', () => {
  expect(decodeResults(list(10_000), 'score')).toHaveLength(10_000)
})
