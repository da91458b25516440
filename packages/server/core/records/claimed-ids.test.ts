import { expect, test } from 'vitest'
import { ClaimedIds } from './claimed-ids.ts'

test('an id is claimed once in each environment', () => {
  const ids = new ClaimedIds()
  expect(ids.claim('a', '1')).toBe(true)
  expect(ids.claim('a', '1')).toBe(false)
  expect(ids.claim('b', '1')).toBe(true)
  expect(ids.claim('a', '2')).toBe(true)
})

test('the newest ids are remembered, and twice as many at most', () => {
  const ids = new ClaimedIds(10)
  for (let id = 0; id < 100; id++) expect(ids.claim('a', String(id))).toBe(true)
  for (let id = 90; id < 100; id++) expect(ids.claim('a', String(id))).toBe(false)
  expect(ids.claim('a', '79')).toBe(true)
})
