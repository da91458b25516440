import fc from 'fast-check'
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

  test('whatever is used and deleted, the owner with the most gives up one, of several the one that was idle for longest', () => {
    const step = fc.record({
      what: fc.constantFrom('set', 'set', 'set', 'use', 'use', 'delete'),
      owner: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      key: fc.nat(24).map(String),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const forgotten: string[] = []
        const cache = new FairCache<number>(MAX, key => forgotten.push(key))
        const plain = new PlainCache(MAX)
        for (const { what, owner, key } of steps) {
          if (what === 'set') cache.set(owner, key, 1)
          else if (what === 'use') cache.use(owner, key)
          else cache.delete(key)
          if (what === 'delete') plain.delete(key)
          else plain.hold(owner, key, what === 'set')
          expect(forgotten).toEqual(plain.forgotten)
        }
      }),
    )
  })

  test('an entry without room takes as little time with 50,000 owners as with few', () => {
    const cache = new FairCache<number>(50_000)
    for (let n = 0; n < 50_000; n++) cache.set(`owner-${n}`, `key-${n}`, n)
    const startedAt = process.cpuUsage().user
    for (let n = 50_000; n < 75_000; n++) cache.set(`owner-${n}`, `key-${n}`, n)
    // A look at all owners for each takes some 12 s.
    expect(process.cpuUsage().user - startedAt).toBeLessThan(3_000_000)
    expect([cache.size, cache.find('key-24999'), cache.find('key-25000')]).toEqual([
      50_000,
      undefined,
      25_000,
    ])
  })
})

/** The same choice, by a look at all owners. */
class PlainCache {
  readonly forgotten: string[] = []
  readonly #max: number
  /** Of owners and of keys those that were used least recently come first. */
  readonly #held = new Map<string, Set<string>>()

  constructor(max: number) {
    this.#max = max
  }

  hold(owner: string, key: string, isNew: boolean): void {
    if (!isNew && !this.#isHeld(key)) return
    const keys = this.#held.get(owner) ?? new Set()
    this.#held.delete(owner)
    this.#held.set(owner, keys)
    keys.delete(key)
    keys.add(key)
    while (this.#isFull()) this.#giveUpOne()
  }

  delete(key: string): void {
    for (const owner of this.#held.keys()) this.#giveUp(owner, key)
  }

  #isHeld(key: string): boolean {
    return [...this.#held.values()].some(keys => keys.has(key))
  }

  #isFull(): boolean {
    const all = [...this.#held.values()].flatMap(keys => [...keys])
    return all.length > 4 * this.#max || new Set(all).size > this.#max
  }

  #giveUpOne(): void {
    const most = Math.max(...[...this.#held.values()].map(({ size }) => size))
    const [owner, keys] = [...this.#held].find(([, { size }]) => size === most) as [string, Set<string>]
    const [key = ''] = keys
    this.#giveUp(owner, key)
    if (!this.#isHeld(key)) this.forgotten.push(key)
  }

  #giveUp(owner: string, key: string): void {
    const keys = this.#held.get(owner)
    keys?.delete(key)
    if (keys?.size === 0) this.#held.delete(owner)
  }
}
