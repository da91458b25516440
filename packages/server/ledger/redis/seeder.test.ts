import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SeedSource } from '../seed-source.ts'
import { makeMeter, openSeeds, T } from '../testing/make-meter.ts'
import { RedisSeeder, type RedisSeederOptions } from './seeder.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const connection = {
  hasData: async () => true,
  commands: { listKnown: async () => ['known'], createCounters: async () => [0] },
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
