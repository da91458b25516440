import { expect, test } from 'vitest'
import { estimateBytes, estimateBytesInTicks } from './estimate-bytes.ts'

test('texts count wherever they are', () => {
  const text = 'x'.repeat(1000)
  for (const holder of [
    text,
    [text],
    { text },
    { a: { b: [text] } },
    new Set([text]),
    new Map([['k', text]]),
  ]) {
    expect(estimateBytes(holder)).toBeGreaterThanOrEqual(1000)
    expect(estimateBytes(holder)).toBeLessThan(2500)
  }
  expect(estimateBytes(new Map([[text, 1]]))).toBeGreaterThanOrEqual(1000)
})

test('bytes count once, and values without content have a small estimate', () => {
  expect(estimateBytes(Buffer.alloc(1000))).toBe(1024)
  for (const value of [null, undefined, 1, true, new Date(0), {}, []])
    expect(estimateBytes(value)).toBeLessThan(100)
})

test('an estimate in short ticks is about the same, and lets others have the event loop', async () => {
  const rule = { id: 'x'.repeat(36), metric: 'requests', limit: 10, windowMs: null }
  const limits = Array.from({ length: 200_000 }, () => ({ ...rule }))
  const environment = { policies: { limits, quotas: [] }, aliases: new Map([['fast', { targets: [rule] }]]) }
  let ticks = 0
  const count = setInterval(() => ticks++, 0)
  const bytes = await estimateBytesInTicks(environment)
  clearInterval(count)
  const atOnce = estimateBytes(environment)
  expect(bytes / atOnce).toBeGreaterThan(0.9)
  expect(bytes / atOnce).toBeLessThan(1.2)
  expect(ticks).toBeGreaterThan(3)
})
