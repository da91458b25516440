import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openRedis } from '../../redis/open-redis.ts'
import { CALLER, makeMeter } from '../../testing/harness/ledger-model.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { AdmitRequest, Used } from '../ledger.ts'
import { defineCommands } from './commands.ts'
import { holdsOf } from './meter-args.ts'
import type { Reply } from './turn.ts'
import { Turns } from './turns.ts'

const USED: Used = { requests: 1, tokens: 0, nanoUsd: 7, isSandbox: false }
const budget = makeMeter('budget', 100)

function toRequest(id: string, nanoUsd: number): AdmitRequest {
  const hold = { tokens: 0, nanoUsd }
  return { id, at: 1, meters: [budget], subject: CALLER, hold, leaseMs: 60_000 }
}

describe.skipIf(redisProgram === undefined)('what is asked of the server that counts', () => {
  const [one, other] = [holdsOf('run', 'one'), holdsOf('run', 'other')]
  let server: TestRedis
  let client: ReturnType<typeof openRedis>
  let turns: Turns
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
    for (const holds of [one, other])
      await commands.seed(holds, '', budget.key, 5, 0, 60_000, '', '', '', '', 0, 0, 0)
    calls = []
    const observed: typeof commands.turn = (holds, time, json) => {
      calls.push(holds)
      return commands.turn(holds, time, json)
    }
    turns = new Turns({ commands: { turn: observed }, owner: 'test', time: () => '' })
  })
  afterEach(() => client.disconnect())

  const valuesOf = async (replies: readonly Promise<Reply>[]): Promise<(readonly number[])[]> =>
    (await Promise.all(replies)).map(({ values }) => values)
  const turnIsOver = (): Promise<void> => new Promise(resolve => process.nextTick(resolve))

  test('is one call for all that one turn of the event loop asks, each whole or not at all, in order', async () => {
    const replies = [
      turns.admit(one, toRequest('a', 60)),
      turns.admit(other, toRequest('b', 100)),
      turns.admit(one, toRequest('too much', 41)),
      turns.settle(one, 'a', USED),
      turns.admit(one, toRequest('fits now', 93)),
      turns.admit(other, toRequest('full', 1)),
      turns.release(other, 'b'),
      turns.settle(one, 'nobody', USED),
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

  test('leaves at once where nothing is under way, else with all that came until that is answered', async () => {
    const first = turns.admit(one, toRequest('first', 1))
    await turnIsOver()
    expect(calls).toHaveLength(1)
    const later = []
    for (const id of ['a', 'b', 'c']) {
      later.push(turns.admit(one, toRequest(id, 1)))
      await turnIsOver()
    }
    expect(calls).toHaveLength(1)
    await Promise.all([first, ...later])
    expect(calls).toHaveLength(2)
  })

  test('leaves without waiting where a call is full', async () => {
    const replies = Array.from({ length: 35 }, (_, index) => turns.admit(one, toRequest(`r${index}`, 1)))
    expect(calls).toHaveLength(2)
    expect((await valuesOf(replies)).map(([, , held]) => held)).toEqual(replies.map((_, index) => index + 1))
    expect(calls).toHaveLength(3)
  })

  test('fails with the call that is under way, and is not sent after it', async () => {
    const first = turns.admit(one, toRequest('first', 1))
    await turnIsOver()
    const second = turns.admit(one, toRequest('second', 1))
    client.stream.destroy()
    const ends = await Promise.allSettled([first, second])
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls).toHaveLength(1)
  })

  test('bears whatever callers name their end users', async () => {
    const strange = '\ud800"\u0000\\'
    const meter = makeMeter('budget', 100, { subject: { endUserId: strange } })
    const request = { ...toRequest('a', 1), meters: [meter], subject: { ...CALLER, endUserId: strange } }
    expect((await turns.admit(one, request)).values).toEqual([1, 0, 1, -1])
  })

  test('keeps every digit of amounts that Lua would round', async () => {
    const most = makeMeter('budget', Number.MAX_SAFE_INTEGER)
    const amount = Number.MAX_SAFE_INTEGER - 2
    await turns.admit(one, { ...toRequest('a', amount), meters: [most] })
    await turns.settle(one, 'a', { ...USED, nanoUsd: amount })
    const { values } = await turns.admit(one, { ...toRequest('b', 1), meters: [most] })
    expect(values).toEqual([1, amount, 1, -1])
  })
})
