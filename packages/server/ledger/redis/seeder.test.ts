import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SeedSource } from '../seed-source.ts'
import { makeMeter, T } from '../testing/make-meter.ts'
import { RedisSeeder, type RedisSeederOptions } from './seeder.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const connection = {
  hasData: async () => true,
  commands: { listKnown: async () => ['known'], createCounter: async () => 0 },
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
