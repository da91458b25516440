import { describe, expect, test } from 'vitest'
import { ruleOf, settledAmount } from '../rules/counting-rules.ts'
import { COUNTED_REQUESTS } from '../testing/counted-requests.ts'
import { describeOnRedis } from '../testing/describe-on-redis.ts'
import { type MeterKind, makeMeter, openSeeds, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { openRedisLedger } from '../testing/open-redis-ledger.ts'
import { UsageDatabase } from '../testing/usage-database.ts'
import { refusalOf } from '../testing/with-ledger.ts'
import type { RedisLedger } from './redis-ledger.ts'

const KINDS: readonly MeterKind[] = ['rate', 'token_rate', 'requests', 'tokens', 'budget', 'concurrency']

describeOnRedis('limits', ({ url, admin, openNew }) => {
  test.each(COUNTED_REQUESTS)('a new counter counts a running request $name: $isCounted', async each => {
    const ledger = await openNew()
    const meter = makeMeter('budget', 1000, { subject: each.subject, ...each.window })
    await ledger.reserve(toRequest('a', [], { at: each.at, amounts: { tokens: 0, nanoUsd: 7 } }))
    expect(await ledger.read([meter], each.at)).toMatchObject([
      { settled: 0, reserved: each.isCounted ? 7 : 0 },
    ])
    await ledger.settle('a', toUsage({ nanoUsd: 5 }))
    expect(await ledger.read([meter], each.at)).toMatchObject([
      { settled: each.isCounted ? 5 : 0, reserved: 0 },
    ])
    await ledger.close()
  })

  test.each(KINDS)(
    'the scripts count a %s by the rules, whatever the usage, also in a counter made later',
    async kind => {
      const ledger = await openNew()
      for (const excludesSandbox of [false, true]) {
        for (const usage of [
          toUsage({ tokens: 3, nanoUsd: 4 }),
          toUsage({ requests: 0, tokens: 3, nanoUsd: 4 }),
          toUsage({ tokens: 3, nanoUsd: 4, isSandbox: true }),
        ]) {
          const name = JSON.stringify([kind, excludesSandbox, usage])
          const settings = (key: string) => ({
            key: `${key} ${name}`,
            subject: { excludesSandbox, endUserId: name },
          })
          const [first, later] = [
            makeMeter(kind, 1000, settings('first')),
            makeMeter(kind, 1000, settings('later')),
          ]
          const subject = { ...toRequest('', []).subject, endUserId: name }
          const amounts = { tokens: 8, nanoUsd: 9 }
          await ledger.reserve(toRequest(name, [first], { subject, amounts }))
          await ledger.settle(name, usage)
          const settled = settledAmount(ruleOf(first), first, usage)
          expect(await ledger.read([first, later], T)).toMatchObject([{ settled }, { settled }])
        }
      }
      await ledger.close()
    },
  )

  test('every key expires, whatever happened to its requests', async () => {
    const ledger = await openNew()
    const meters = KINDS.map(kind => makeMeter(kind, 1000, kind === 'tokens' ? { end: T + 5000 } : {}))
    for (const [index, end] of ['settle', 'release', 'expire', 'none'].entries()) {
      await ledger.reserve(toRequest(end, meters, { at: T + index, leaseMs: index === 2 ? 1 : 60_000 }))
    }
    await ledger.settle('settle', toUsage())
    await ledger.release('release')
    await ledger.expire(T + 10)
    await ledger.read(meters, T + 120_000)
    const keys = await admin().keys('*')
    const lives = await Promise.all(keys.map(async key => [key, await admin().pttl(key)] as const))
    expect(lives.filter(([key, life]) => life < 0 && !key.endsWith(':life'))).toEqual([])
    expect(keys.length).toBeGreaterThan(KINDS.length)
    await ledger.close()
  })

  test('reservations that have ended are forgotten: released at once, settled after 10 s, expired after a day', async () => {
    const ledger = await openNew()
    const meters = [makeMeter('budget', 1000)]
    for (const id of ['settled', 'released', 'expired']) {
      await ledger.reserve(toRequest(id, meters, { leaseMs: 1000 }))
    }
    await ledger.settle('settled', toUsage())
    await ledger.release('released')
    const idsAt = async (at: number): Promise<string[]> => {
      await ledger.read(meters, at)
      const [key = ''] = await admin().keys('*:reservations')
      return key === '' ? [] : (await admin().hkeys(key)).sort()
    }
    expect(await idsAt(T + 1001)).toEqual(['expired', 'settled'])
    expect(await idsAt(T + 10_001)).toEqual(['expired'])
    // What refuses a late admission of a released request is a key of its own for ten minutes.
    const marks = await admin().keys('*:mark:*')
    expect(marks).toEqual([expect.stringMatching(/:mark:released$/)])
    const life = await admin().pttl(marks[0] as string)
    expect(life).toBeGreaterThan(540_000)
    expect(life).toBeLessThanOrEqual(600_000)
    expect(await idsAt(T + 1001 + 86_400_000)).toEqual(['expired'])
    expect(await idsAt(T + 1002 + 86_400_000)).toEqual([])
    await ledger.close()
  })

  test('two processes create a counter once: the later one finds it, with the same usage', async () => {
    const database = new UsageDatabase()
    database.write('earlier', T - 10, toUsage({ nanoUsd: 30 }))
    const first = await openNew({ seeds: database })
    const second = await openRedisLedger({
      url: url(),
      owner: 'second',
      isTimeGiven: true,
      seeds: database,
    })
    const answers: (() => void)[] = []
    database.afterSnapshot = () => new Promise(resolve => void answers.push(resolve))
    const meters = [makeMeter('budget', 100)]
    const amounts = { tokens: 0, nanoUsd: 1 }
    const reserve = (ledger: RedisLedger, id: string) => ledger.reserve(toRequest(id, meters, { amounts }))
    const verdicts = [reserve(first, 'a'), reserve(second, 'b')]
    // Both have read the same usage before either creates the counter.
    await expect.poll(() => answers.length).toBe(2)
    for (const answer of answers) answer()
    expect((await Promise.all(verdicts)).every(({ isAdmitted }) => isAdmitted)).toBe(true)
    expect(await second.read(meters, T)).toMatchObject([{ settled: 30, reserved: 2 }])
    await Promise.all([first.close(), second.close()])
  })

  test('a rate with more than 20,000 entries rounds new ones up to the end of their slot', async () => {
    const windowMs = 40_000_000
    const slotMs = 2000
    const meter = makeMeter('rate', 30_000, { windowMs })
    const entries = Array.from({ length: 25_000 }, (_, index) => ({ at: T - 25_000 + index, amount: 1 }))
    const ledger = await openNew({ seeds: openSeeds(new Map([[meter.key, { used: 25_000, entries }]])) })
    const ids = Array.from({ length: 100 }, (_, index) => `r${index}`)
    for (const [index, id] of ids.entries())
      await ledger.reserve(toRequest(id, [meter], { at: T + 1 + index }))
    const [list = ''] = await admin().keys('*:times:*')
    const times = await admin().lrange(list, 20_001, -1)
    // Three slots of the seed, and one of the requests.
    expect(times.map(Number)).toEqual([T - 2 * slotMs, T - slotMs, T, T + slotMs])
    const [status] = (await ledger.read([meter], T + 101)) ?? []
    expect(status).toMatchObject({ settled: 25_000, reserved: 100 })
    await ledger.close()
  })

  describe('of twelve rates with 20,000 entries each', () => {
    const rates = (limit: number) =>
      Array.from({ length: 12 }, (_, index) => makeMeter('rate', limit, { key: `rate ${index}` }))
    const entries = Array.from({ length: 20_000 }, (_, index) => ({ at: T - 20_000 + index, amount: 1 }))
    const openFull = async () => {
      const seeds = openSeeds(new Map(rates(1).map(({ key }) => [key, { used: 20_000, entries }])))
      const ledger = await openNew({ seeds })
      expect(await ledger.reserve(toRequest('first', rates(30_000)))).toMatchObject({ isAdmitted: true })
      return ledger
    }
    const countEntries = async (): Promise<number> => {
      const lists = await admin().keys('*:times:*')
      const lengths = await Promise.all(lists.map(list => admin().llen(list)))
      return lengths.reduce((sum, length) => sum + length, 0)
    }

    test('a script expires about 20,000, and later ones the others', async () => {
      const ledger = await openFull()
      const before = await countEntries()
      // The last 100 still count, and the first reservation.
      const at = T + 60_000 - 101
      const verdict = await ledger.reserve(toRequest('second', rates(30_000), { at }))
      expect(verdict).toMatchObject({ isAdmitted: true })
      const expired = before + 12 - (await countEntries())
      expect(expired).toBeGreaterThanOrEqual(20_000)
      expect(expired).toBeLessThanOrEqual(20_000 + 12 * 70)
      // The others still count. The statuses say until the next millisecond.
      const statuses = 'statuses' in verdict ? verdict.statuses : []
      expect(statuses.every(({ resetAt }) => (resetAt ?? 0) > at)).toBe(true)
      expect(await ledger.reserve(toRequest('third', rates(19_900), { at }))).toMatchObject({
        isAdmitted: false,
        refusal: { retryAt: at + 1 },
      })
      for (let script = 0; script < 12; script++) await ledger.read(rates(30_000), at)
      const after = (await ledger.read(rates(30_000), at)) ?? []
      expect(after.map(({ settled, reserved }) => [settled, reserved])).toEqual(rates(1).map(() => [100, 2]))
      await ledger.close()
    })

    test('a refusal looks at a few thousand, is exact for a short wait and never too early for a long one', async () => {
      const ledger = await openFull()
      const refuse = async (limit: number) => {
        await admin().config('RESETSTAT')
        const verdict = await ledger.reserve(toRequest('refused', rates(limit)))
        const calls = Number(/^cmdstat_lrange:calls=(\d+)/m.exec(await admin().info('commandstats'))?.[1])
        return { retryAt: refusalOf(verdict).retryAt, calls }
      }
      // 30 entries must leave.
      expect(await refuse(19_972)).toEqual({ retryAt: T - 20_000 + 29 + 60_000, calls: 24 })
      const { retryAt, calls } = await refuse(2)
      // All but one must leave: those of the reservation leave last.
      expect(retryAt).toBe(T + 60_000)
      // Three of each, and nine of all.
      expect(calls).toBeLessThanOrEqual(12 * 3 + 9)
      await ledger.close()
    })
  })

  test('health names no reasons while the counters can be used', async () => {
    const ledger = await openNew()
    expect(ledger.health()).toEqual({ isHealthy: true, reasons: [] })
    expect(ledger.reservationCount).toBe(0)
    await ledger.close()
  })
})
