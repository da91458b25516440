import { expect, test } from 'vitest'
import { RefusalCounter } from './refusal-counter.ts'

test('a million refusals of a minute write one line per reason, and the next line counts them', () => {
  const lines: object[] = []
  const refusals = new RefusalCounter({ warn: details => void lines.push(details) })
  for (let i = 0; i < 1_000_000; i++) refusals.count('address_rate', '192.0.2.1', i * 0.05)
  refusals.count('key_rate', 'k', 59_000)
  expect(lines).toEqual([
    { reason: 'address_rate', refused: 1, by: '192.0.2.1' },
    { reason: 'key_rate', refused: 1, by: 'k' },
  ])
  refusals.count('address_rate', '192.0.2.2', 60_000)
  expect(lines.at(-1)).toEqual({ reason: 'address_rate', refused: 1_000_000, by: '192.0.2.2' })
  expect(refusals.of('address_rate')).toBe(1_000_001)
})
