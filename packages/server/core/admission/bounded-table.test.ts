import { expect, test } from 'vitest'
import { BoundedTable } from './bounded-table.ts'
import { toBucketRate } from './token-bucket.ts'
import { TokenBuckets } from './token-buckets.ts'

class Entry {
  readonly key: string
  isBusy: boolean
  evictions = 0

  constructor(key: string, isBusy: boolean) {
    this.key = key
    this.isBusy = isBusy
  }

  isIdle(): boolean {
    return !this.isBusy
  }

  onEvicted(): void {
    this.evictions++
  }
}

test('a full table evicts an idle entry for a new one and never a busy one', () => {
  const table = new BoundedTable<Entry>(3)
  const [busy, idle, other] = [new Entry('busy', true), new Entry('idle', false), new Entry('other', true)]
  for (const entry of [busy, idle, other]) expect(table.add(entry, 0)).toBe(true)
  const added = new Entry('added', true)
  expect(table.add(added, 0)).toBe(true)
  expect([table.find('busy'), table.find('idle'), table.find('other'), table.find('added')]).toEqual([
    busy,
    undefined,
    other,
    added,
  ])
  expect([busy.evictions, idle.evictions]).toEqual([0, 1])
  expect(table.add(new Entry('one more', true), 0)).toBe(false)
  expect(table.size).toBe(3)
  other.isBusy = false
  expect(table.add(new Entry('one more', true), 0)).toBe(true)
})

test('a million addresses take no more places than there are, and a limited one stays limited', () => {
  const buckets = new TokenBuckets(toBucketRate(100, 5), 10_000)
  const attacker = '192.0.2.1'
  for (let i = 0; i < 500; i++) expect(buckets.take(attacker, 0)).toBe(0)
  for (let i = 0; i < 1_000_000; i++) {
    buckets.take(`2001:db8:${(i >> 8).toString(16)}:${i & 255}::/64`, i / 1_000)
    if (i % 10_000 === 0) buckets.take(attacker, i / 1_000)
  }
  expect(buckets.size).toBe(10_000)
  // In that second the attacker's bucket gained 100 tokens, of which it took up to 100.
  let more = 0
  while (buckets.take(attacker, 1_000) === 0) more++
  expect(more).toBeLessThanOrEqual(100)
})

test('when every place is taken by a busy address, further addresses share one bucket', () => {
  const buckets = new TokenBuckets(toBucketRate(1, 2), 4)
  for (const address of ['a', 'b', 'c', 'd']) expect(buckets.take(address, 0)).toBe(0)
  expect([buckets.take('e', 0), buckets.take('f', 0)]).toEqual([0, 0])
  expect(buckets.take('g', 0)).toBeGreaterThan(0)
  expect(buckets.take('a', 0)).toBe(0)
  expect(buckets.take('g', 5_000)).toBe(0)
  expect(buckets.size).toBe(4)
})
