import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import { LargeLoads } from './large-loads.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** `records` and the names that are `listed` of an environment, by its id; `own`: what else it has. */
function open(
  records: Record<string, number>,
  listed: Record<string, number> = {},
  own: { allowedModels?: readonly string[]; plans?: readonly object[] } = {},
) {
  const begun: string[] = []
  const loads = new LargeLoads(
    async id => {
      begun.push(id)
      const limits = Array.from({ length: records[id] ?? 0 })
      const policies = { limits, quotas: [], budgets: [], plans: own.plans ?? [] }
      return {
        ...{
          id,
          orgId: `org of ${id}`,
          policies,
          allowedModels: own.allowedModels ?? null,
          allowedOrigins: [],
          aliases: new Map(),
          customModels: new Map(),
          credentials: [{ discovered: { size: listed[id] ?? 0 } }],
        },
      } as unknown as Environment
    },
    () => Date.now(),
  )
  return { begun, loads }
}

test('an environment with few records is loaded at once, however often', async () => {
  const { begun, loads } = open({ small: 998 })
  for (let change = 0; change < 50; change++) await loads.load('small')
  expect(begun).toHaveLength(50)
})

test.each([
  ['whose credentials list', {}, { large: 20_000 }],
  ['whose plans allow', { plans: Array(20).fill({ allowedModels: Array(1_000).fill('m') }) }, {}],
  ['that allows', { allowedModels: Array(20_000).fill('m') }, {}],
])('one %s 20,000 models rests too, and one without such lists does not', async (_, own, listed) => {
  const { begun, loads } = open({}, listed, own)
  await loads.load('large')
  const again = loads.load('large')
  await vi.advanceTimersByTimeAsync(100)
  expect(begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(100)
  await again
  expect(begun).toHaveLength(2)
  const few = open({}, {}, { plans: Array(900).fill({ allowedModels: null }) })
  for (let change = 0; change < 3; change++) await few.loads.load('small')
  expect(few.begun).toHaveLength(3)
})

test('one with thousands of records is loaded again after a rest, once for all that ask meanwhile', async () => {
  const { begun, loads } = open({ large: 20_000 })
  await loads.load('large')
  const asked = Array.from({ length: 50 }, () => loads.load('large'))
  await vi.advanceTimersByTimeAsync(900)
  expect(begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(100)
  expect(begun).toHaveLength(2)
  expect(new Set(await Promise.all(asked)).size).toBe(1)
})

test('several of them take turns, with rests for all others, and a small one does not wait', async () => {
  const { begun, loads } = open({ a: 10_000, b: 10_000, small: 1 })
  await Promise.all([loads.load('a'), loads.load('b')])
  begun.length = 0
  await vi.advanceTimersByTimeAsync(2_000)
  const both = [loads.load('a'), loads.load('b')]
  await loads.load('small')
  await vi.advanceTimersByTimeAsync(0)
  expect(begun).toEqual(['small', 'a'])
  await vi.advanceTimersByTimeAsync(400)
  expect(begun).toEqual(['small', 'a', 'b'])
  await Promise.all(both)
})
