import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import type { SeedSource } from '../seed-source.ts'
import { describeOnRedis } from '../testing/describe-on-redis.ts'
import { CALLER, type MeterKind, makeMeter, openSeeds, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { refusalOf } from '../testing/with-ledger.ts'
import type { RedisLedger } from './redis-ledger.ts'

interface Ended {
  readonly id: string
  readonly at: number
  readonly endUserId: string
  readonly nanoUsd: number
}

/** The usage records of end users. A request is stored as soon as it ends. */
class Records implements SeedSource {
  readonly ended: Ended[] = []
  /** The keys of the meters of each read. */
  readonly reads: string[][] = []

  async read(
    meters: readonly Meter[],
    _at: number,
    onSnapshot: (missing: ReadonlySet<string>) => void,
    without: readonly string[] = [],
  ) {
    this.reads.push(meters.map(({ key }) => key))
    onSnapshot(new Set())
    return meters.map(({ kind, metric, subject: { endUserId } }) => {
      const entries = this.ended
        .filter(each => each.endUserId === endUserId && !without.includes(each.id))
        .map(({ at, nanoUsd }) => ({ at, amount: metric === 'nano_usd' ? nanoUsd : 1 }))
      const used = entries.reduce((sum, { amount }) => sum + amount, 0)
      return { used, entries: kind === 'rolling' ? entries : [] }
    })
  }
}

const meterOf = (kind: MeterKind, endUserId: string, limit = 100): Meter =>
  makeMeter(kind, limit, {
    key: `${kind} ${endUserId}`,
    subject: { environmentId: 'environment', endUserId },
  })

describeOnRedis('the counters of an organization', ({ admin, openNew }) => {
  const reserve = (ledger: RedisLedger, id: string, meters: readonly Meter[], at = T, nanoUsd = 0) => {
    const endUserId = meters[0]?.subject.endUserId ?? 'user'
    const subject = { ...CALLER, endUserId }
    return ledger.reserve(toRequest(id, meters, { at, subject, amounts: { tokens: 0, nanoUsd } }))
  }
  const listCounters = async (): Promise<string[]> => {
    const keys = await admin().keys('*:counter:*')
    return keys.map(key => key.replace(/^.*:counter:/, '').replace(/@.*$/, '')).sort()
  }

  test('are no more than twice what it may have, however many end users it names; those of others stay', async () => {
    const ledger = await openNew({ maxCounters: 10 })
    const other = makeMeter('rate', 9, { key: 'other rate', subject: { orgId: 'other' } })
    await ledger.reserve(toRequest('other', [other], { subject: { ...CALLER, orgId: 'other' } }))
    for (let index = 0; index < 60; index++) {
      const meters = [meterOf('rate', `user ${index}`), meterOf('budget', `user ${index}`)]
      expect(await reserve(ledger, `r${index}`, meters, T + index)).toMatchObject({ isAdmitted: true })
      await ledger.settle(`r${index}`, toUsage())
    }
    const counters = await listCounters()
    expect(counters).toHaveLength(21)
    expect(counters).toContain('other rate')
    // The newest ones, with the lists of their entries.
    expect(counters).toEqual(
      expect.arrayContaining(Array.from({ length: 10 }, (_, index) => `rate user ${50 + index}`)),
    )
    expect(await admin().keys('*:times:*')).toHaveLength(11)
    await ledger.close()
  })

  test('that were used the longest time ago are deleted first, and then read from the records again', async () => {
    const records = new Records()
    const ledger = await openNew({ maxCounters: 10, seeds: records })
    const spend = async (id: string, endUserId: string, at: number, nanoUsd: number): Promise<void> => {
      const meters = [meterOf('budget', endUserId)]
      expect(await reserve(ledger, id, meters, at, nanoUsd)).toMatchObject({ isAdmitted: true })
      records.ended.push({ id, at, endUserId, nanoUsd })
      await ledger.settle(id, toUsage({ nanoUsd }))
    }
    await spend('idle', 'idle', T, 30)
    await spend('busy', 'busy', T, 40)
    for (let index = 0; index < 20; index++) {
      const at = T + index * 60_000
      await ledger.expire(at)
      await spend(`busy ${index}`, 'busy', at, 1)
      await spend(`new ${index}`, `new ${index}`, at, 1)
    }
    const counters = await listCounters()
    expect(counters).toHaveLength(10)
    expect(counters).toContain('budget busy')
    expect(counters).not.toContain('budget idle')
    expect(records.reads.flat().filter(key => key.startsWith('budget busy'))).toHaveLength(1)
    const verdict = await reserve(ledger, 'too much', [meterOf('budget', 'idle')], T + 2_000_000, 71)
    expect(refusalOf(verdict)).toMatchObject({ settled: 30, reserved: 0, wanted: 71 })
    await ledger.close()
  })

  test('that were used within five minutes stay, since what they count may not be stored yet', async () => {
    const records = new Records()
    const ledger = await openNew({ maxCounters: 3, seeds: records })
    expect(await reserve(ledger, 'spent', [meterOf('budget', 'spender')], T, 100)).toMatchObject({
      isAdmitted: true,
    })
    await ledger.settle('spent', toUsage({ nanoUsd: 100 }))
    for (let index = 0; index < 5; index++) {
      await reserve(ledger, `r${index}`, [meterOf('budget', `user ${index}`)], T + 12_000)
      await ledger.settle(`r${index}`, toUsage())
    }
    expect(await listCounters()).toHaveLength(6)
    const verdict = await reserve(ledger, 'again', [meterOf('budget', 'spender')], T + 13_000, 1)
    expect(refusalOf(verdict)).toMatchObject({ settled: 100 })
    records.ended.push({ id: 'spent', at: T, endUserId: 'spender', nanoUsd: 100 })
    await reserve(ledger, 'later', [meterOf('budget', 'later')], T + 400_000)
    expect(await listCounters()).toHaveLength(3)
    await ledger.close()
  })

  test('that count a running request stay', async () => {
    const ledger = await openNew({ maxCounters: 5 })
    for (const kind of ['budget', 'concurrency'] as const) {
      await reserve(ledger, `runs ${kind}`, [meterOf(kind, 'running')], T, 40)
    }
    for (let index = 0; index < 30; index++) {
      const at = T + index * 1000
      await reserve(ledger, `r${index}`, [meterOf('rate', `user ${index}`)], at)
      await ledger.settle(`r${index}`, toUsage())
    }
    expect(await listCounters()).toEqual(expect.arrayContaining(['budget running', 'concurrency running']))
    expect(await listCounters()).toHaveLength(10)
    const more = { tokens: 0, nanoUsd: 101 }
    expect(await ledger.extend('runs budget', more, T, 60_000)).toMatchObject({ refusal: { wanted: 61 } })
    const running = Array.from({ length: 12 }, (_, index) => `concurrency running ${index}`)
    for (const [index, name] of running.entries()) {
      await reserve(ledger, name, [meterOf('concurrency', `running ${index}`)], T + 40_000)
    }
    expect(await listCounters()).toEqual(expect.arrayContaining(running))
    await ledger.close()
  })

  test('check what a request reserves later, also where it had reserved nothing', async () => {
    const records = new Records()
    const ledger = await openNew({ maxCounters: 2, seeds: records })
    records.ended.push({ id: 'earlier', at: T - 1000, endUserId: 'user', nanoUsd: 60 })
    await reserve(ledger, 'grows', [meterOf('budget', 'user')])
    for (let index = 0; index < 4; index++) {
      await reserve(ledger, `r${index}`, [meterOf('rate', `user ${index}`)], T + 1000)
      await ledger.settle(`r${index}`, toUsage())
    }
    expect(await listCounters()).not.toContain('budget user')
    const extend = (nanoUsd: number) => ledger.extend('grows', { tokens: 0, nanoUsd }, T + 1000, 60_000)
    expect(await extend(41)).toMatchObject({ refusal: { settled: 60, reserved: 0, wanted: 41 } })
    expect(await extend(40)).toMatchObject({ statuses: [{ settled: 60, reserved: 40 }] })
    await ledger.close()
  })

  describe('of which there are very many', () => {
    const rate = meterOf('rate', 'user', 10_000)
    /** Opens a ledger with the names of 100,000 counters: each may keep 10 entries. */
    const openLarge = async (seeds: SeedSource): Promise<RedisLedger> => {
      const ledger = await openNew({ seeds })
      await reserve(ledger, 'first', [meterOf('concurrency', 'first')])
      const [names = ''] = await admin().keys('*:meters')
      const others = Array.from({ length: 99_998 }, (_, index) => [String(T), `other ${index}`])
      for (let first = 0; first < others.length; first += 10_000) {
        await admin().zadd(names, ...others.slice(first, first + 10_000).flat())
      }
      return ledger
    }
    const listTimes = async (): Promise<number[]> => {
      const [list = ''] = await admin().keys('*:times:*')
      return (await admin().lrange(list, '0', '-1')).map(Number)
    }

    test('merge what they count above their share into tenths of their window, which leave late, never early', async () => {
      const ledger = await openLarge(openSeeds())
      for (let index = 0; index < 200; index++) {
        const at = T + index * 100
        expect(await reserve(ledger, `r${index}`, [rate], at)).toMatchObject({ isAdmitted: true })
        await ledger.settle(`r${index}`, toUsage())
      }
      const times = await listTimes()
      expect(times.length).toBeLessThanOrEqual(21)
      expect(times.slice(0, 11)).toEqual(Array.from({ length: 11 }, (_, index) => T + index * 100))
      expect(times.slice(11).every(time => time % 6000 === 0)).toBe(true)
      const countAt = async (at: number): Promise<unknown> => (await ledger.read([rate], at))?.[0]?.settled
      const end = T + 19_900 + 60_000
      expect(await countAt(T + 20_000)).toBe(200)
      expect(await countAt(end - 1)).toBeGreaterThan(0)
      expect(await countAt(end + 6000)).toBe(0)
      await ledger.close()
    })

    test('merge what they are seeded with too', async () => {
      const entries = Array.from({ length: 5000 }, (_, index) => ({ at: T - 50_000 + index * 10, amount: 1 }))
      const ledger = await openLarge(openSeeds(new Map([[rate.key, { used: 5000, entries }]])))
      expect(await ledger.read([rate], T)).toMatchObject([{ settled: 5000 }])
      expect((await listTimes()).length).toBeLessThanOrEqual(22)
      expect(await ledger.read([rate], T + 66_000)).toMatchObject([{ settled: 0 }])
      await ledger.close()
    })
  })

  test('have their names no shorter than they live', async () => {
    const ledger = await openNew({})
    const day = 86_400_000
    const meters = [
      meterOf('rate', 'user'),
      makeMeter('rate', 9, { key: 'long', windowMs: 30 * day }),
      makeMeter('budget', 9, { key: 'month', end: T + 31 * day }),
    ]
    await ledger.reserve(toRequest('a', meters))
    const lives = async (pattern: string): Promise<number[]> =>
      Promise.all((await admin().keys(pattern)).map(key => admin().pttl(key)))
    const [names = 0] = await lives('*:meters')
    expect(names).toBeGreaterThanOrEqual(Math.max(...(await lives('*:counter:*'))))
    await ledger.expire(T + 1)
    expect((await lives('*:meters'))[0]).toBeGreaterThan(names - 60_000)
    await ledger.close()
  })

  test('have no names of those that have expired', async () => {
    const ledger = await openNew({})
    for (let index = 0; index < 200; index++) {
      await reserve(ledger, `r${index}`, [meterOf('rate', `user ${index}`)])
    }
    const live = ['rate user 7', 'rate user 70', 'rate user 199']
    for (const key of await admin().keys('*:counter:*')) {
      if (!live.some(name => key.endsWith(`:${name}`))) await admin().del(key)
    }
    for (let times = 0; times < 5; times++) await ledger.expire(T + 1)
    const [names = ''] = await admin().keys('*:meters')
    expect((await admin().zrange(names, '0', '-1')).sort()).toEqual(live.sort())
    await ledger.close()
  })

  test('have no lists that outlive them, also where all they counted had left the window', async () => {
    const ledger = await openNew({ seeds: new Records() })
    for (let index = 0; index < 5; index++) {
      const meters = [meterOf('rate', `user ${index}`)]
      await reserve(ledger, `a${index}`, meters)
      await ledger.settle(`a${index}`, toUsage())
      // Refused for the counter that is missing, after the window's has been emptied; then admitted by another script.
      await reserve(ledger, `b${index}`, [...meters, meterOf('budget', `user ${index}`)], T + 100_000)
    }
    const lists = await admin().keys('*:times:*')
    expect(lists).toHaveLength(5)
    for (const list of lists) expect(await admin().pttl(list)).toBeGreaterThan(0)
    for (const key of await admin().keys('*:counter:*')) await admin().del(key)
    for (let times = 0; times < 5; times++) await ledger.expire(T + 100_001)
    expect(await admin().keys('*:times:*')).toEqual([])
    await ledger.close()
  })

  test('take little memory, however long the names are that callers choose', async () => {
    const ledger = await openNew({})
    const names = ['a', 'b'].map(letter => letter.repeat(255).replaceAll('b', '\u{1f600}'))
    for (const [index, name] of names.entries()) {
      for (const kind of ['rate', 'budget'] as const) {
        const id = `${kind} ${index}`
        expect(await reserve(ledger, id, [meterOf(kind, name, 1)], T, 1)).toMatchObject({ isAdmitted: true })
        expect(await reserve(ledger, `${id} 2`, [meterOf(kind, name, 1)], T, 1)).toHaveProperty('refusal')
        expect(await ledger.read([meterOf(kind, name, 1)], T)).toMatchObject([{ reserved: 1 }])
        await ledger.settle(id, toUsage())
      }
    }
    const keys = [...(await admin().keys('*:counter:*')), ...(await admin().keys('*:times:*'))]
    expect(keys).toHaveLength(6)
    for (const key of keys) expect(await admin().memory('USAGE', key)).toBeLessThan(500)
    await ledger.close()
  })

  const users = ['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7']
  const step = fc.record({
    action: fc.constantFrom('reserve', 'reserve', 'extend', 'settle', 'release', 'wait'),
    which: fc.nat(8),
    user: fc.constantFrom(...users),
    nanoUsd: fc.nat(5),
    ms: fc.constantFrom(0, 7, 5000, 11_000),
  })

  test('hold every budget and slot, whichever of them are deleted when', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async steps => {
        const records = new Records()
        // Three running requests keep six of them.
        const ledger = await openNew({ maxCounters: 4, seeds: records })
        const metersOf = (user: string): Meter[] => [
          meterOf('budget', user, 12),
          meterOf('concurrency', user, 3),
        ]
        const running = new Map<string, { endUserId: string; nanoUsd: number }>()
        const usedBy = (user: string) => {
          const own = [...running.values()].filter(({ endUserId }) => endUserId === user)
          const ended = records.ended.filter(({ endUserId }) => endUserId === user)
          const sum = (all: readonly { nanoUsd: number }[]) =>
            all.reduce((total, { nanoUsd }) => total + nanoUsd, 0)
          return { settled: sum(ended), reserved: sum(own), slots: own.length }
        }
        let at = T
        for (const [index, { action, which, user, nanoUsd, ms }] of steps.entries()) {
          at++
          const [id = 'none', request] = [...running][which % Math.max(1, running.size)] ?? []
          if (action === 'wait') {
            at += ms
            await ledger.expire(at)
          } else if (action === 'reserve' && running.size < 3) {
            const { settled, reserved, slots } = usedBy(user)
            const subject = { ...CALLER, endUserId: user }
            const settings = { at, subject, amounts: { tokens: 0, nanoUsd }, leaseMs: 1e9 }
            const verdict = await ledger.reserve(toRequest(`r${index}`, metersOf(user), settings))
            expect(verdict).toMatchObject({ isAdmitted: settled + reserved + nanoUsd <= 12 && slots < 3 })
            if (verdict.isAdmitted) running.set(`r${index}`, { endUserId: user, nanoUsd })
          } else if (request !== undefined && action === 'extend') {
            const { settled, reserved } = usedBy(request.endUserId)
            const fits = nanoUsd <= request.nanoUsd || settled + reserved + nanoUsd - request.nanoUsd <= 12
            const verdict = await ledger.extend(id, { tokens: 0, nanoUsd }, at, 1e9)
            expect(verdict).toMatchObject({ isAdmitted: fits })
            if (verdict.isAdmitted) request.nanoUsd = nanoUsd
          } else if (request !== undefined && action === 'settle') {
            running.delete(id)
            records.ended.push({ id, at, endUserId: request.endUserId, nanoUsd })
            await ledger.settle(id, toUsage({ nanoUsd }))
          } else if (request !== undefined && action === 'release') {
            running.delete(id)
            await ledger.release(id)
          }
        }
        for (const user of users) {
          const { settled, reserved, slots } = usedBy(user)
          expect(await ledger.read(metersOf(user), at)).toMatchObject([
            { settled, reserved },
            { reserved: slots },
          ])
        }
        await ledger.close()
      }),
      { numRuns: 80 },
    )
  }, 60_000)
})
