import { expect, test } from 'vitest'
import { LATENCY_BOUNDS, ProviderCounts } from './provider-counts.ts'

test('counts a latency in the lowest bucket that includes it, and longer ones than all bounds in the last', () => {
  const counts = new ProviderCounts()
  for (const ms of [100, 101, 120_000, 120_001]) counts.noteAttempt('openai', 'success', ms, true)
  const { buckets } = counts.all.get('openai')?.stream ?? { buckets: [] }
  expect(buckets).toEqual([1, 1, ...Array.from({ length: LATENCY_BOUNDS.length - 3 }, () => 0), 1, 1])
})

test('stays finite after amounts that no counter can show', () => {
  const counts = new ProviderCounts()
  const max = Number.MAX_VALUE
  const usage = { uncachedInput: max, cacheRead: max, cacheWrite: 0, output: max, reasoning: max }
  counts.noteBill('openai', { usage, isEstimated: false, costNanoUsd: max })
  const { inputTokens, outputTokens, nanoUsd } = counts.all.get('openai') ?? {}
  expect([inputTokens, outputTokens, nanoUsd].every(Number.isFinite)).toBe(true)
})

test('adds nothing to the cost for an unknown price', () => {
  const counts = new ProviderCounts()
  const usage = { uncachedInput: 7, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 1 }
  counts.noteBill('openai', { usage, isEstimated: false, costNanoUsd: null })
  expect(counts.all.get('openai')).toMatchObject({ inputTokens: 7, outputTokens: 3, nanoUsd: 0 })
})
