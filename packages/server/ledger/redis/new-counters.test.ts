import { expect, test } from 'vitest'
import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import { describeOnRedis } from '../testing/describe-on-redis.ts'
import { CALLER, type MeterKind, makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import type { RedisLedger } from './redis-ledger.ts'

const KINDS: readonly MeterKind[] = ['rate', 'token_rate', 'requests', 'tokens', 'budget', 'concurrency']

describeOnRedis('new counters', ({ admin, openNew }) => {
  /** Opens requests of as many end users, keys and environments. */
  const reserveOthers = async (ledger: RedisLedger, count: number): Promise<void> => {
    const reserveOne = (_: unknown, index: number): Promise<unknown> => {
      const subject = {
        ...CALLER,
        projectId: `project ${index}`,
        environmentId: `environment ${index}`,
        keyId: `key ${index}`,
        endUserId: `user ${index}`,
      }
      return ledger.reserve(toRequest(`other ${index}`, [], { subject }))
    }
    await Promise.all(Array.from({ length: count }, reserveOne))
  }

  /** Returns how often each command ran that reads hashes, or looks for something. */
  const countReads = async (use: () => Promise<unknown>): Promise<Record<string, number>> => {
    await admin().config('RESETSTAT')
    await use()
    const calls: Record<string, number> = {}
    const info = await admin().info('commandstats')
    for (const [, name = '', count] of info.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)) {
      if (/^h(get|mget|vals|keys|scan)|range|scan/.test(name)) calls[name] = Number(count)
    }
    return calls
  }

  const { projectId, environmentId, keyId } = CALLER
  const scopes: [string, Partial<MeterSubject>][] = [
    ['an end user', { projectId, environmentId, endUserId: 'new' }],
    ['a key', { projectId, environmentId, keyId }],
    ['an environment', { projectId, environmentId }],
    ['a project', { projectId }],
  ]
  test.each(scopes)('of %s read as much whatever others have open', async (_, subject) => {
    const meters = KINDS.map(kind => makeMeter(kind, 1000, { subject }))
    const measure = async (others: number): Promise<Record<string, number>> => {
      const ledger = await openNew()
      await reserveOthers(ledger, others)
      await ledger.reserve(toRequest('runs', [], { subject: { ...CALLER, endUserId: 'new' } }))
      const caller = { ...CALLER, endUserId: 'new' }
      const reads = await countReads(async () => {
        expect(await ledger.reserve(toRequest('new', meters, { subject: caller }))).toMatchObject({
          isAdmitted: true,
        })
      })
      expect(await ledger.read(meters.slice(-1), T)).toMatchObject([{ reserved: 2 }])
      await ledger.close()
      return reads
    }
    const few = await measure(3)
    expect(await measure(2500)).toEqual(few)
    expect(Object.keys(few)).not.toContain('hgetall')
    // One search for each of the two scripts.
    expect(few.zrangebylex).toBe(2)
  })

  test('of the whole organization read no request that arrived before their window', async () => {
    const meter = makeMeter('concurrency', 9, { since: T + 1 })
    const measure = async (others: number): Promise<Record<string, number>> => {
      const ledger = await openNew()
      await reserveOthers(ledger, others)
      await ledger.reserve(toRequest('within', [], { at: T + 1 }))
      const reads = await countReads(async () => {
        expect(await ledger.read([meter], T + 1)).toMatchObject([{ reserved: 1 }])
      })
      await ledger.close()
      return reads
    }
    const few = await measure(3)
    expect(await measure(2500)).toEqual(few)
    expect(Object.keys(few)).not.toContain('hgetall')
  })

  test.each([
    ['a while ago', 0],
    ['just now', T],
  ])('of an organization whose limit was made %s count every open request once', async (_, since) => {
    const ledger = await openNew()
    await reserveOthers(ledger, 2500)
    const meter = makeMeter('concurrency', 3000, { since })
    expect(await ledger.read([meter], T)).toMatchObject([{ reserved: 2500 }])
    for (let index = 0; index < 2500; index++) await ledger.release(`other ${index}`)
    expect(await ledger.read([meter], T)).toMatchObject([{ reserved: 0 }])
    await ledger.close()
  })

  test.each([
    ['a', 'ab'],
    ['a', 'a\0environment'],
    ['', 'a'],
    ['é', 'é\u{10ffff}'],
  ])('of the end user %j do not count what %j has open', async (one, other) => {
    const ledger = await openNew()
    const meterOf = (endUserId: string): Meter =>
      makeMeter('concurrency', 9, { key: `slots ${endUserId}`, subject: { environmentId, endUserId } })
    for (const [id, endUserId] of Object.entries({ one, other })) {
      await ledger.reserve(toRequest(id, [], { subject: { ...CALLER, endUserId } }))
    }
    const read = async (): Promise<unknown> =>
      (await ledger.read([one, other].map(meterOf), T))?.map(({ reserved }) => reserved)
    // An empty name is that of no end user: its meter counts everything.
    expect(await read()).toEqual(one === '' ? [2, 1] : [1, 1])
    await ledger.release('other')
    expect(await read()).toEqual([1, 0])
    await ledger.close()
  })

  test('leave nothing behind of requests that have ended', async () => {
    const ledger = await openNew()
    const meters = [makeMeter('concurrency', 9)]
    await Promise.all([ledger.reserve(toRequest('at once', meters)), ledger.release('at once')])
    for (const id of ['settled', 'released', 'expired']) {
      await ledger.reserve(toRequest(id, meters, { leaseMs: 1000 }))
    }
    const indexed = async (): Promise<string[]> => {
      const [key = ''] = await admin().keys('*:index')
      const ids = (await admin().zrange(key, '0', '-1')).map(member => member.split('\0').at(-1) as string)
      return [...new Set(ids)].sort()
    }
    await ledger.settle('settled', toUsage())
    await ledger.release('released')
    await ledger.release('at once')
    expect(await indexed()).toEqual(['expired', 'settled'])
    await ledger.expire(T + 10_001)
    expect(await indexed()).toEqual(['expired'])
    await ledger.expire(T + 10_002 + 86_400_000)
    expect(await indexed()).toEqual([])
    await ledger.close()
  })
})
