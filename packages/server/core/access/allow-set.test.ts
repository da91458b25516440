import { expect, test } from 'vitest'
import { nameAllowList, toAllowSet } from './allow-set.ts'

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
