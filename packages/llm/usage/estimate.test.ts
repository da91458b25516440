import { describe, expect, test } from 'vitest'
import { estimateMaxTokens, estimateTokens } from './estimate.ts'

describe('estimateMostTokens', () => {
  test.each([
    [
      'prose',
      'The quick brown fox jumps over the lazy dog and then it sleeps for a while. '.repeat(5),
      1,
      1.4,
    ],
    // A token for each two or three digits, or for each one.
    ['numbers', '3141592653589793 '.repeat(20), 2, 3],
    ['base64', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'.repeat(8), 1.3, 2.5],
    ['Chinese', '人工智能网关按令牌计费'.repeat(20), 1.5, 2],
    ['Cyrillic', 'Быстрая коричневая лиса '.repeat(20), 1, 1.6],
    ['code', 'if (a[i] !== b[j]) { return { ok: false, at: [i, j] } }\n'.repeat(9), 1.2, 2],
  ])('%s: never less than by bytes, and more where a token has fewer', (_what, text, least, max) => {
    const ratio = estimateMaxTokens(text) / estimateTokens(text)
    expect(ratio).toBeGreaterThanOrEqual(least)
    expect(ratio).toBeLessThanOrEqual(max)
  })

  test('a long text is counted as its parts are, wherever its letters stand', () => {
    const part = 'Order 4711: 人工智能, 12.50 EUR; see https://example.com/a?b=c1d2e3 for more. '
    expect(estimateMaxTokens(part.repeat(500)) / 500 / estimateMaxTokens(part)).toBeCloseTo(1, 1)
    const signs = '%#'.repeat(25_600)
    const withLetters = signs.replace(/(.{99})./g, '$1a')
    expect(estimateMaxTokens(withLetters)).toBeGreaterThan(estimateMaxTokens(signs) * 0.99)
    const emoji = [...'😀'.repeat(25_600)].map((each, at) => (at % 50 === 0 ? 'aa' : each)).join('')
    expect(estimateMaxTokens(emoji)).toBeGreaterThan(estimateMaxTokens('😀'.repeat(25_600)) * 0.95)
  })

  test('nothing is nothing', () => {
    expect(estimateMaxTokens('')).toBe(0)
  })
})
