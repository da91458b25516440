import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SeedSource } from '../seed-source.ts'
import { describeOnEachLedger } from '../testing/describe-on-each-ledger.ts'
import { CALLER, makeMeter, openSeeds, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { UsageDatabase } from '../testing/usage-database.ts'
import { refusalOf } from '../testing/with-ledger.ts'

describeOnEachLedger('a new counter', withLedger => {
  test('begins with the usage records, which are read once for concurrent requests', async () => {
    const meter = makeMeter('budget', 100)
    const rate = makeMeter('rate', 3)
    let asked = 0
    const entries = [
      { at: T - 50_000, amount: 1 },
      { at: T - 10_000, amount: 1 },
    ]
    const known = openSeeds(
      new Map([
        [meter.key, { used: 60, entries: [] }],
        [rate.key, { used: 2, entries }],
      ]),
    )
    const seeds: SeedSource = {
      read: (meters, ...rest) => {
        asked += meters.length
        return known.read(meters, ...rest)
      },
    }
    await withLedger(async ledger => {
      const amounts = { tokens: 0, nanoUsd: 1 }
      const verdicts = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          ledger.reserve(toRequest(`r${index}`, [meter], { amounts })),
        ),
      )
      expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(40)
      // A counter that is created while they run counts them then, or when they end.
      for (let index = 0; index < 100; index++) await ledger.release(`r${index}`)
      expect((await ledger.reserve(toRequest('a', [rate]))).isAdmitted).toBe(true)
      const verdict = await ledger.reserve(toRequest('b', [rate]))
      expect(verdict).toMatchObject({ refusal: { settled: 2, reserved: 1, retryAt: T + 10_000 } })
      expect(asked).toBe(2)
    }, seeds)
  })

  test('admits up to the limit among the first 50 concurrent requests of an end user', () => {
    const database = new UsageDatabase()
    const endUserId = 'never seen'
    database.write('earlier', T - 1000, toUsage({ nanoUsd: 3 }))
    database.store()
    let answer = (): void => {}
    database.beforeSnapshot = () => new Promise(resolve => void (answer = resolve))
    return withLedger(async ledger => {
      const subject = { ...CALLER, endUserId }
      const meters = [
        makeMeter('budget', 13, { key: 'spend', subject: { endUserId } }),
        makeMeter('concurrency', 40, { key: 'slots', subject: { endUserId } }),
      ]
      const amounts = { tokens: 0, nanoUsd: 1 }
      const verdicts = Array.from({ length: 50 }, (_, index) =>
        ledger.reserve(toRequest(`r${index}`, meters, { amounts, subject })),
      )
      await expect.poll(() => database.reads.length).toBe(1)
      answer()
      const admitted = (await Promise.all(verdicts)).filter(({ isAdmitted }) => isAdmitted)
      expect(admitted).toHaveLength(10)
      expect(await ledger.read(meters, T)).toMatchObject([{ settled: 3, reserved: 10 }, { reserved: 10 }])
      expect(database.reads).toHaveLength(1)
    }, database)
  })

  test('begins at zero for concurrency and is never seeded, whatever is seeded with it', () => {
    const meters = [
      makeMeter('budget', 1000, { key: 'spend' }),
      makeMeter('concurrency', 2, { key: 'slots' }),
      makeMeter('rate', 1000, { key: 'rate' }),
    ]
    const asked: string[] = []
    const seeds: SeedSource = {
      read: async (all, _at, onSnapshot) => {
        asked.push(...all.map(({ key }) => key))
        onSnapshot?.(new Set())
        return all.map(() => ({ used: 500, entries: [] }))
      },
    }
    return withLedger(async ledger => {
      expect((await ledger.reserve(toRequest('a', meters))).isAdmitted).toBe(true)
      const [, slots] = (await ledger.read(meters, T)) ?? []
      expect(slots).toMatchObject({ settled: 0, reserved: 1 })
      expect([...asked].sort()).toEqual([meters[2]?.key, meters[0]?.key])
    }, seeds)
  })

  test('counts a request that was running when it was created, at the latest when that ends', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100, { key: 'new' }), makeMeter('rate', 10)]
      await ledger.reserve(toRequest('a', [], { amounts: { tokens: 0, nanoUsd: 60 } }))
      await ledger.reserve(toRequest('b', meters, { amounts: { tokens: 0, nanoUsd: 10 } }))
      await ledger.settle('a', toUsage({ nanoUsd: 40 }))
      await ledger.settle('a', toUsage({ nanoUsd: 40 }))
      expect(await ledger.read(meters, T)).toMatchObject([
        { settled: 40, reserved: 10 },
        { settled: 1, reserved: 1 },
      ])
    }))

  test('does not count a running request that is not its subject’s or was admitted before its window', () =>
    withLedger(async ledger => {
      const meters = [
        makeMeter('budget', 100, { key: 'other key', subject: { keyId: 'other' } }),
        makeMeter('budget', 100, { key: 'other user', subject: { endUserId: 'other' } }),
        makeMeter('budget', 100, { key: 'other project', subject: { projectId: 'other' } }),
        makeMeter('budget', 100, { key: 'other environment', subject: { environmentId: 'other' } }),
        makeMeter('budget', 100, { key: 'later', since: T + 1, end: T + 1000 }),
        makeMeter('budget', 100, { key: 'earlier', since: T - 1000, end: T }),
        makeMeter('budget', 100, { key: 'own', subject: { keyId: 'key', endUserId: 'user' } }),
      ]
      await ledger.reserve(toRequest('a', []))
      await ledger.read(meters, T)
      await ledger.settle('a', toUsage({ nanoUsd: 7 }))
      const statuses = (await ledger.read(meters, T)) ?? []
      expect(statuses.map(({ settled }) => settled)).toEqual([0, 0, 0, 0, 0, 0, 7])
    }))

  test('counts every request once, whether it ends or is stored before, during or after the read', async () => {
    const phases = fc.record({
      /** Phase in which each earlier request ends, and what it spends. */
      ends: fc.array(fc.record({ phase: fc.nat(3), nanoUsd: fc.integer({ min: 0, max: 3 }) }), {
        maxLength: 8,
      }),
      /** Whether the journal is stored at the end of each phase. */
      stores: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
    })
    await fc.assert(
      fc.asyncProperty(phases, async ({ ends, stores }) => {
        const database = new UsageDatabase()
        await withLedger(async ledger => {
          const meters = [makeMeter('budget', 1000), makeMeter('rate', 1000), makeMeter('requests', 1000)]
          const run = async (phase: number): Promise<void> => {
            for (const [index, end] of ends.entries()) {
              if (end.phase !== phase) continue
              const usage = toUsage({ nanoUsd: end.nanoUsd })
              database.write(`old ${index}`, T, usage)
              await ledger.settle(`old ${index}`, usage)
            }
            if (stores[phase]) database.store()
          }
          for (const index of ends.keys()) await ledger.reserve(toRequest(`old ${index}`, []))
          await run(0)
          database.beforeSnapshot = () => run(1)
          database.afterSnapshot = () => run(2)
          const fresh = toRequest('new', meters, { amounts: { tokens: 0, nanoUsd: 5 } })
          expect((await ledger.reserve(fresh)).isAdmitted).toBe(true)
          await run(3)
          expect(await ledger.read(meters, T)).toMatchObject([
            { settled: database.total(({ nanoUsd }) => nanoUsd), reserved: 5 },
            { settled: ends.length, reserved: 1 },
            { settled: ends.length, reserved: 1 },
          ])
        }, database)
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  test('refuses as unavailable, never as exceeded, if it cannot be seeded; the next request reads again', () => {
    const database = new UsageDatabase()
    database.beforeSnapshot = async () => {
      throw new Error('the database is unreachable')
    }
    return withLedger(async ledger => {
      const meters = [makeMeter('budget', 10)]
      expect(await ledger.reserve(toRequest('a', meters))).toEqual({
        isAdmitted: false,
        unavailable: expect.any(String),
      })
      expect(await ledger.read(meters, T)).toBeUndefined()
      database.beforeSnapshot = async () => {}
      expect(await ledger.reserve(toRequest('a', meters))).toMatchObject({ isAdmitted: true })
      expect(database.reads).toHaveLength(3)
    }, database)
  })

  test('reports the alert thresholds that earlier usage has reached', async () => {
    const meter = makeMeter('budget', 100, { alertThresholds: [50, 60, 80] })
    await withLedger(
      async (ledger, crossings) => {
        await ledger.reserve(toRequest('a', [meter]))
        expect(crossings.map(({ threshold, settled }) => [threshold, settled])).toEqual([
          [50, 60],
          [60, 60],
        ])
      },
      openSeeds(new Map([[meter.key, { used: 60, entries: [] }]])),
    )
  })

  test('ignores entries that left the window of a rolling meter, and frees the others one by one', async () => {
    const meter = makeMeter('token_rate', 100, { windowMs: 1000 })
    const entries = [
      { at: T - 1000, amount: 50 },
      { at: T - 999, amount: 30 },
      { at: T - 500, amount: 60 },
    ]
    await withLedger(
      async ledger => {
        const request = toRequest('a', [meter], { amounts: { tokens: 30, nanoUsd: 0 } })
        expect(refusalOf(await ledger.reserve(request))).toMatchObject({
          settled: 90,
          resetAt: T + 1,
          retryAt: T + 1,
        })
        expect((await ledger.reserve({ ...request, at: T + 1 })).isAdmitted).toBe(true)
      },
      openSeeds(new Map([[meter.key, { used: 140, entries }]])),
    )
  })
})
