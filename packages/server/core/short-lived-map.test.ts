import { expect, test } from 'vitest'
import { ShortLivedMap } from './short-lived-map.ts'

test('returns an entry until it is deleted', () => {
  const map = new ShortLivedMap<{ n: number }>()
  map.set('a', { n: 1 })
  map.set('b', { n: 2 })
  map.set('a', { n: 3 })
  expect([...map.entries()]).toEqual([
    ['a', { n: 3 }],
    ['b', { n: 2 }],
  ])
  expect([map.size, map.get('a'), map.has('b'), map.has('c')]).toEqual([2, { n: 3 }, true, false])
  expect([map.delete('a'), map.delete('a')]).toEqual([true, false])
  expect([map.size, map.get('a'), map.has('a')]).toEqual([1, undefined, false])
})

test('iterates over its entries without those that are deleted during the iteration', () => {
  const map = new ShortLivedMap<object>()
  for (const key of ['a', 'b', 'c']) map.set(key, {})
  const seen: string[] = []
  for (const [key] of map.entries()) {
    seen.push(key)
    map.delete('b')
  }
  expect(seen).toEqual(['a', 'c'])
})
