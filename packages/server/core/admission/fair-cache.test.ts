import { describe, expect, test } from 'vitest'
import { FairCache } from './fair-cache.ts'

const MAX = 10
const open = () => new FairCache<number>(MAX)
const fill = (cache: FairCache<number>, owner: string, count: number, prefix = owner): void => {
  for (let n = 0; n < count; n++) cache.set(owner, `${prefix}-${n}`, n)
}

describe('FairCache', () => {
  test('gives one owner the whole room, and forgets what it used least recently', () => {
    const cache = open()
    fill(cache, 'a', MAX)
    expect(cache.use('a', 'a-0')).toBe(0)
    cache.set('a', 'new', 1)
    expect([cache.find('a-0'), cache.find('a-1'), cache.find('new')]).toEqual([0, undefined, 1])
    expect(cache.size).toBe(MAX)
  })

  test('an owner with many entries pushes out its own only', () => {
    const cache = open()
    fill(cache, 'victim', 2)
    fill(cache, 'a', 1_000)
    expect([cache.find('victim-0'), cache.find('victim-1')]).toEqual([0, 1])
    expect(cache.size).toBe(MAX)
  })

  test('owners with many entries make room for a new one', () => {
    const cache = open()
    fill(cache, 'a', 5)
    fill(cache, 'b', 5)
    cache.set('c', 'c-0', 7)
    fill(cache, 'b', 100, 'further')
    expect(cache.find('c-0')).toBe(7)
  })

  test('owners that use the same entries push out those only', () => {
    const cache = open()
    cache.set('victim', 'victim-0', 7)
    for (let n = 0; n < 1_000; n++) {
      cache.set('a', `shared-${n}`, n)
      cache.use('b', `shared-${n}`)
    }
    expect(cache.find('victim-0')).toBe(7)
    expect(cache.size).toBe(MAX)
  })

  test('an entry stays while one of its owners holds it', () => {
    const cache = open()
    cache.set('victim', 'shared', 7)
    cache.set('a', 'shared', 8)
    fill(cache, 'a', 1_000)
    expect(cache.find('shared')).toBe(8)
  })

  test('of owners with as many entries the one that was idle for longest gives up one', () => {
    const cache = open()
    for (let n = 0; n < MAX; n++) cache.set(`owner-${n}`, `key-${n}`, n)
    cache.use('owner-0', 'key-0')
    cache.set('new', 'new', 1)
    expect([cache.find('key-0'), cache.find('key-1')]).toEqual([0, undefined])
  })

  test('of very many owners of one entry those that were idle for longest do not hold it any more', () => {
    const cache = open()
    cache.set('first', 'shared', 7)
    cache.set('first', 'own', 8)
    for (let n = 0; n < 4 * MAX; n++) cache.use(`owner-${n}`, 'shared')
    expect([cache.find('shared'), cache.find('own')]).toEqual([7, undefined])
  })

  test('a value that was not kept is not held', () => {
    const cache = open()
    expect(cache.use('a', 'unknown')).toBeUndefined()
    expect(cache.size).toBe(0)
  })

  test('a deleted entry is held by nobody, and leaves room', () => {
    const cache = open()
    cache.set('a', 'shared', 1)
    cache.use('b', 'shared')
    cache.delete('shared')
    cache.delete('unknown')
    expect([cache.find('shared'), cache.size]).toEqual([undefined, 0])
    fill(cache, 'a', MAX)
    expect(cache.find('a-0')).toBe(0)
    cache.clear()
    fill(cache, 'b', MAX)
    expect([cache.find('b-0'), cache.size]).toEqual([0, MAX])
  })

  test('each entry for which there is no room is reported once, and a deleted one is not', () => {
    const forgotten: string[] = []
    const cache = new FairCache<number>(MAX, (key, value) => forgotten.push(`${key}=${value}`))
    fill(cache, 'a', MAX + 2)
    cache.delete('a-5')
    cache.clear()
    expect(forgotten).toEqual(['a-0=0', 'a-1=1'])
  })
})
