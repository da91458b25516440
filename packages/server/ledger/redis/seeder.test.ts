import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SeedSource } from '../seed-source.ts'
import { makeMeter, openSeeds, T } from '../testing/make-meter.ts'
import { RedisSeeder, type RedisSeederOptions } from './seeder.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const connection = {
  hasData: async () => true,
  commands: { listKnown: async () => ['1', 'known'], createCounters: async () => [0] },
} as unknown as RedisSeederOptions['connection']
const clock: RedisSeederOptions['clock'] = { time: () => '', shift: (now: number) => now } as never

test('gives a read 8 s, after which PostgreSQL ends its statement and the counters are unavailable', async () => {
  const asked: unknown[] = []
  const seeds: SeedSource = {
    read: (_meters, _at, _onSnapshot, without, timeoutMs) => {
      asked.push([without, timeoutMs])
      return new Promise(() => {})
    },
  }
  const seeder = new RedisSeeder({ connection, clock, seeds, onThresholdCrossed: () => {} })
  const isSeeded = seeder.seed('run', [makeMeter('budget', 10)], T)
  await vi.advanceTimersByTimeAsync(8_000)
  expect(await isSeeded).toBe(false)
  expect(asked).toEqual([[['known'], 8_000]])
})

describe('after counters that took 5,000 requests from Redis', () => {
  const opened = { listed: [] as unknown[][] }
  const openSeeder = async (): Promise<RedisSeeder> => {
    opened.listed = []
    const listKnown = async (...args: unknown[]): Promise<string[]> => {
      opened.listed.push(args)
      return ['5000', ...Array.from({ length: 5000 }, (_, index) => `request ${index}`)]
    }
    const seeder = new RedisSeeder({
      connection: {
        ...connection,
        commands: { ...connection.commands, listKnown },
      } as unknown as RedisSeederOptions['connection'],
      clock,
      seeds: openSeeds(),
      onThresholdCrossed: () => {},
    })
    expect(await seeder.seed('run', [makeMeter('budget', 1, { key: 'first' })], T)).toBe(true)
    expect(opened.listed).toHaveLength(1)
    return seeder
  }

  test('the next ones of the organization wait for a second, those of an end user and of others do not', async () => {
    const seeder = await openSeeder()
    const next = seeder.seed('run', [makeMeter('budget', 1, { key: 'next' })], T)
    await vi.advanceTimersByTimeAsync(900)
    expect(opened.listed).toHaveLength(1)
    const subjects = [{ endUserId: 'user' }, { orgId: 'other' }]
    for (const subject of subjects) {
      expect(await seeder.seed('run', [makeMeter('budget', 1, { key: 'x', subject })], T)).toBe(true)
    }
    expect(opened.listed).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(1100)
    expect(await next).toBe(true)
  })

  test('those at once are listed one after the other, and unavailable where they would wait for longer than 8 s', async () => {
    const seeder = await openSeeder()
    const names = Array.from({ length: 20 }, (_, index) => `next ${index}`)
    const seed = (key: string): Promise<boolean> => seeder.seed('run', [makeMeter('budget', 1, { key })], T)
    const herd = Promise.all(names.map(seed))
    for (let second = 1; second <= 7; second++) {
      await vi.advanceTimersByTimeAsync(1_010)
      expect(opened.listed).toHaveLength(1 + second)
    }
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await herd).filter(isSeeded => isSeeded)).toHaveLength(opened.listed.length - 1)
    expect(opened.listed.length).toBeLessThan(10)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await seed('later')).toBe(true)
  })

  test('the next ones of the same end user wait as well', async () => {
    const seeder = await openSeeder()
    const subject = { endUserId: 'user' }
    const seed = (key: string): Promise<boolean> =>
      seeder.seed('run', [makeMeter('budget', 1, { key, subject })], T)
    expect(await seed('one')).toBe(true)
    const next = seed('two')
    await vi.advanceTimersByTimeAsync(900)
    expect(opened.listed).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(200)
    expect(await next).toBe(true)
  })
})

test('creates sixteen counters by one script, and fewer where their seeds have more than 20,000 entries', async () => {
  const scripts: string[][] = []
  const createCounters = async (
    _key: string,
    _time: unknown,
    _most: number,
    json: string,
  ): Promise<number[]> => {
    const rows: [string][] = JSON.parse(json)
    scripts.push(rows.map(([name]) => name))
    return rows.map(() => 0)
  }
  const commands = { ...connection.commands, createCounters }
  const entries = Array.from({ length: 12_000 }, (_, index) => ({ at: T + index, amount: 1 }))
  const rates = ['r1', 'r2', 'r3'].map(key => makeMeter('rate', 10, { key }))
  const seeds = openSeeds(new Map(rates.map(({ key }) => [key, { used: 12_000, entries }])))
  const seeder = new RedisSeeder({
    connection: { ...connection, commands } as unknown as RedisSeederOptions['connection'],
    clock,
    seeds,
    onThresholdCrossed: () => {},
  })
  const slots = Array.from({ length: 20 }, (_, index) => makeMeter('concurrency', 10, { key: `c${index}` }))
  expect(await seeder.seed('run', [...slots, ...rates], T)).toBe(true)
  expect(scripts.map(({ length }) => length)).toEqual([16, 5, 1, 1])
  expect(scripts.flat()).toEqual([...slots, ...rates].map(({ key }) => key))
})
