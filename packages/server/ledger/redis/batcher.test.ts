import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRedis } from '../../redis/open-redis.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { ReserveRequest } from '../ledger.ts'
import { CALLER, makeMeter, toRequest as toRequestOf, toUsage } from '../testing/make-meter.ts'
import type { Reply } from './batch.ts'
import { Batcher } from './batcher.ts'
import { defineCommands } from './commands.ts'
import { reservationsKey } from './keys.ts'

const USAGE = toUsage({ nanoUsd: 7 })
const budget = makeMeter('budget', 100)

function toRequest(id: string, nanoUsd: number): ReserveRequest {
  return toRequestOf(id, [budget], { at: 1, amounts: { tokens: 0, nanoUsd } })
}

describe.skipIf(redisProgram === undefined)('operations on the server', () => {
  const [one, other] = [reservationsKey('run', 'one'), reservationsKey('run', 'other')]
  let server: TestRedis
  let client: ReturnType<typeof openRedis>
  let batcher: Batcher
  /** The organizations of each call. */
  let calls: (readonly string[])[]

  beforeAll(async () => {
    server = await startTestRedis()
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    client = openRedis({ url: server.url, name: 'test', commandTimeoutMs: 10_000 })
    await client.connect()
    await client.flushall()
    const commands = defineCommands(client)
    for (const key of [one, other])
      await commands.createCounters(
        key,
        '',
        10,
        JSON.stringify([[budget.key, 5, 0, 60_000, '', '', '', '', 0, 0, 0, []]]),
      )
    calls = []
    const observed: typeof commands.runBatch = (keys, time, json) => {
      calls.push(keys)
      return commands.runBatch(keys, time, json)
    }
    batcher = new Batcher({ commands: { runBatch: observed }, owner: 'test', clock: { time: () => '' } })
  })
  afterEach(() => client.disconnect())

  const valuesOf = async (replies: readonly Promise<Reply>[]): Promise<(readonly number[])[]> =>
    (await Promise.all(replies)).map(({ values }) => values)
  const endOfTick = (): Promise<void> => new Promise(resolve => process.nextTick(resolve))

  test('share one call in an event-loop tick, each whole or not at all, in order', async () => {
    const replies = [
      batcher.reserve(one, toRequest('a', 60)),
      batcher.reserve(other, toRequest('b', 100)),
      batcher.reserve(one, toRequest('too much', 41)),
      batcher.settle(one, 'a', USAGE),
      batcher.reserve(one, toRequest('fits now', 93)),
      batcher.reserve(other, toRequest('full', 1)),
      batcher.release(other, 'b'),
      batcher.settle(one, 'unknown', USAGE),
    ]
    expect(await valuesOf(replies)).toEqual([
      [1, 0, 60, -1],
      [1, 0, 100, -1],
      [0, 0, 0, 60, -1, -1],
      [7],
      [1, 7, 93, -1],
      [0, 0, 0, 100, -1, -1],
      [],
      [],
    ])
    expect(calls).toEqual([[one, other]])
  })

  test('are sent at once with no call under way, otherwise together when that call is answered', async () => {
    const first = batcher.reserve(one, toRequest('first', 1))
    await endOfTick()
    expect(calls).toHaveLength(1)
    const later = []
    for (const id of ['a', 'b', 'c']) {
      later.push(batcher.reserve(one, toRequest(id, 1)))
      await endOfTick()
    }
    expect(calls).toHaveLength(1)
    await Promise.all([first, ...later])
    expect(calls).toHaveLength(2)
  })

  test('are sent without waiting when they fill a call', async () => {
    const replies = Array.from({ length: 35 }, (_, index) => batcher.reserve(one, toRequest(`r${index}`, 1)))
    expect(calls).toHaveLength(2)
    expect((await valuesOf(replies)).map(([, , reserved]) => reserved)).toEqual(
      replies.map((_, index) => index + 1),
    )
    expect(calls).toHaveLength(3)
  })

  test('fail with the call under way and are not sent after it', async () => {
    const first = batcher.reserve(one, toRequest('first', 1))
    await endOfTick()
    const second = batcher.reserve(one, toRequest('second', 1))
    client.stream.destroy()
    const ends = await Promise.allSettled([first, second])
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls).toHaveLength(1)
  })

  test('accept any characters in the names of end users', async () => {
    const strange = '\ud800"\u0000\\'
    const meter = makeMeter('budget', 100, { subject: { endUserId: strange } })
    const request = { ...toRequest('a', 1), meters: [meter], subject: { ...CALLER, endUserId: strange } }
    expect((await batcher.reserve(one, request)).values).toEqual([1, 0, 1, -1])
  })

  test('keep every digit of amounts that Lua would round', async () => {
    const max = makeMeter('budget', Number.MAX_SAFE_INTEGER)
    const amount = Number.MAX_SAFE_INTEGER - 2
    await batcher.reserve(one, { ...toRequest('a', amount), meters: [max] })
    await batcher.settle(one, 'a', { ...USAGE, nanoUsd: amount })
    const { values } = await batcher.reserve(one, { ...toRequest('b', 1), meters: [max] })
    expect(values).toEqual([1, amount, 1, -1])
  })

  test('reserve nothing if they arrive after the release of their request', async () => {
    await batcher.release(one, 'late')
    expect((await batcher.reserve(one, toRequest('late', 1))).values).toEqual([4])
    const commands = defineCommands(client)
    expect(await commands.readMeters(one, '', budget.key, 5, 0)).toEqual([expect.any(Number), [1, 0, 0, -1]])
  })

  test('name the meters whose counters are missing, and change nothing', async () => {
    const unknown = makeMeter('budget', 100, { key: 'unknown' })
    const request = { ...toRequest('a', 1), meters: [unknown, budget, { ...unknown, key: 'too' }] }
    expect((await batcher.reserve(one, request)).values).toEqual([2, 0, 2])
    expect((await batcher.reserve(one, toRequest('a', 1))).values).toEqual([1, 0, 1, -1])
  })
})
