import { expect, test } from 'vitest'
import { nameAllowList, toAllowSet } from './allow-set.ts'
import { isModelAllowed } from './authorize.ts'

test('a list of entries is made a set once', () => {
  const list = ['a', 'b']
  expect(toAllowSet(list)).toBe(toAllowSet(list))
  expect([...toAllowSet(list)]).toEqual(list)
})

test('lists with the same entries share a name, and no others do', () => {
  expect(nameAllowList(['a', 'b'])).toBe(nameAllowList(['a', 'b']))
  const others = [null, [], [''], ['a,b'], ['a', 'b'], ['b', 'a'], ['a","b'], ['all']]
  expect(new Set(others.map(nameAllowList)).size).toBe(others.length)
})

test('lists of a thousand entries are compared with ten thousand models in less than a second', () => {
  const allowed = Array.from({ length: 1000 }, (_, at) => `host/${'x'.repeat(200)}${at}`)
  const startedAt = performance.now()
  for (let at = 0; at < 10_000; at++) {
    const id = `host/${'x'.repeat(200)}${at}`
    expect(isModelAllowed(allowed, id, id)).toBe(at < 1000)
  }
  expect(performance.now() - startedAt).toBeLessThan(1000)
})
