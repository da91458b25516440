import { expect, test } from 'vitest'
import { estimateBytes } from './estimate-bytes.ts'

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
