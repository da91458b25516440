import { expect, test } from 'vitest'
import { listMeters } from '../../core/limits/list-meters.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { QuotaPolicy } from '../../core/tenancy/policies.ts'
import type { Amounts, Ledger } from '../ledger.ts'
import { describeOnEachLedger } from '../testing/describe-on-each-ledger.ts'
import { makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { refusalOf } from '../testing/with-ledger.ts'

const METERS = [
  makeMeter('rate', 100),
  makeMeter('token_rate', 100),
  makeMeter('requests', 100),
  makeMeter('tokens', 100),
  makeMeter('budget', 100),
  makeMeter('budget', 100, { key: 'real', subject: { excludesSandbox: true } }),
  makeMeter('concurrency', 100),
]
const AMOUNTS: Amounts = { tokens: 30, nanoUsd: 60 }
const RESERVED = [1, 30, 1, 30, 60, 60, 1]
const NONE = [0, 0, 0, 0, 0, 0, 0]
/** After this time the lease of a request at T has run out. */
const EXPIRED_AT = T + 1001

describeOnEachLedger('settlement', withLedger => {
  const sumsOf = async (ledger: Ledger): Promise<{ settled: number[]; reserved: number[] }> => {
    const statuses = (await ledger.read(METERS, EXPIRED_AT)) ?? []
    return {
      settled: statuses.map(({ settled }) => settled),
      reserved: statuses.map(({ reserved }) => reserved),
    }
  }

  test('the first settle counts; further ones, a release or an unknown id change nothing', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100), makeMeter('concurrency', 1)]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 0, nanoUsd: 60 } }))
      for (let times = 0; times < 10; times++) await ledger.settle('a', toUsage({ nanoUsd: 40 }))
      await ledger.release('a')
      await ledger.settle('never seen', toUsage({ nanoUsd: 40 }))
      const [budget, running] = (await ledger.read(meters, T)) ?? []
      expect(budget).toMatchObject({ settled: 40, reserved: 0 })
      expect(running).toMatchObject({ settled: 0, reserved: 0 })
    }))

  test('counts usage above the reservation', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100)]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 0, nanoUsd: 60 } }))
      await ledger.settle('a', toUsage({ nanoUsd: 130 }))
      expect(await ledger.read(meters, T)).toMatchObject([{ settled: 130, reserved: 0 }])
      expect((await ledger.reserve(toRequest('b', meters))).isAdmitted).toBe(false)
    }))

  test('does not count answers of the sandbox where a meter excludes it', () =>
    withLedger(async ledger => {
      const meters = [
        makeMeter('budget', 100, { key: 'real', subject: { excludesSandbox: true } }),
        makeMeter('budget', 100, { key: 'all' }),
      ]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 0, nanoUsd: 60 } }))
      await ledger.settle('a', toUsage({ nanoUsd: 50, isSandbox: true }))
      expect(await ledger.read(meters, T)).toMatchObject([{ settled: 0 }, { settled: 50 }])
    }))

  test.each<[string, Partial<MeteredUsage>, number[]]>([
    ['less than reserved', { tokens: 5, nanoUsd: 7 }, [1, 5, 1, 5, 7, 7, 0]],
    ['more than reserved', { tokens: 50, nanoUsd: 70 }, [1, 50, 1, 50, 70, 70, 0]],
    ['a request that was not served', { requests: 0 }, [1, 0, 0, 0, 0, 0, 0]],
    ['an answer of the sandbox', { tokens: 5, nanoUsd: 7, isSandbox: true }, [1, 5, 1, 5, 7, 0, 0]],
  ])('counts %s on each kind of meter', (_, usage, settled) =>
    withLedger(async ledger => {
      await ledger.reserve(toRequest('a', METERS, { amounts: AMOUNTS }))
      expect(await sumsOf(ledger)).toEqual({ settled: NONE, reserved: RESERVED })
      await ledger.settle('a', toUsage(usage))
      expect(await sumsOf(ledger)).toEqual({ settled, reserved: NONE })
    }),
  )

  const EXPIRED = [1, 30, 1, 30, 60, 60, 0]
  const USED = [1, 5, 1, 5, 7, 7, 0]
  const usage = toUsage({ tokens: 5, nanoUsd: 7 })
  test.each<[string, number[], readonly ((ledger: Ledger) => unknown)[]]>([
    ['settle', USED, [each => each.settle('a', usage)]],
    ['release', NONE, [each => each.release('a')]],
    ['expire', EXPIRED, [each => each.expire(EXPIRED_AT)]],
    ['expire, settle', USED, [each => each.expire(EXPIRED_AT), each => each.settle('a', usage)]],
    ['expire, release', NONE, [each => each.expire(EXPIRED_AT), each => each.release('a')]],
    [
      'expire, extend, settle',
      USED,
      [
        each => each.expire(EXPIRED_AT),
        each => each.extend('a', AMOUNTS, EXPIRED_AT, 1000),
        each => each.settle('a', usage),
      ],
    ],
    [
      'expire, extend to more, release',
      NONE,
      [
        each => each.expire(EXPIRED_AT),
        each => each.extend('a', { tokens: 40, nanoUsd: 70 }, EXPIRED_AT, 1000),
        each => each.release('a'),
      ],
    ],
    [
      'extend to less, expire',
      [1, 3, 1, 3, 4, 4, 0],
      [each => each.extend('a', { tokens: 3, nanoUsd: 4 }, T, 1), each => each.expire(EXPIRED_AT)],
    ],
    ['settle, expire', USED, [each => each.settle('a', usage), each => each.expire(EXPIRED_AT)]],
    ['release, settle', NONE, [each => each.release('a'), each => each.settle('a', usage)]],
    ['settle, release', USED, [each => each.settle('a', usage), each => each.release('a')]],
  ])('leaves nothing reserved after %s', (_, settled, steps) =>
    withLedger(async ledger => {
      await ledger.reserve(toRequest('a', METERS, { amounts: AMOUNTS, leaseMs: 1000 }))
      for (const step of steps) await step(ledger)
      expect(await sumsOf(ledger)).toEqual({ settled, reserved: NONE })
      // Repeated ends change nothing.
      await steps.at(-1)?.(ledger)
      expect(await sumsOf(ledger)).toEqual({ settled, reserved: NONE })
    }),
  )

  test('a release gives back rates too', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('rate', 1), makeMeter('token_rate', 10)]
      const amounts = { tokens: 10, nanoUsd: 0 }
      await ledger.reserve(toRequest('a', meters, { amounts }))
      await ledger.release('a')
      expect((await ledger.reserve(toRequest('b', meters, { amounts }))).isAdmitted).toBe(true)
    }))

  test('reports each alert threshold once, when settled spend reaches it', () =>
    withLedger(async (ledger, crossings) => {
      const meters = [makeMeter('budget', 100, { alertThresholds: [50, 80] })]
      for (const [id, nanoUsd] of [
        ['a', 49],
        ['b', 1],
        ['c', 20],
        ['d', 30],
      ] as const) {
        await ledger.reserve(toRequest(id, meters, { amounts: { tokens: 0, nanoUsd } }))
        await ledger.settle(id, toUsage({ nanoUsd }))
      }
      expect(crossings.map(({ threshold, settled }) => [threshold, settled])).toEqual([
        [50, 50],
        [80, 100],
      ])
    }))

  test('reports all thresholds that one request crosses, and none for what is only reserved', () =>
    withLedger(async (ledger, crossings) => {
      const meters = [makeMeter('budget', 100, { alertThresholds: [10, 50, 80] })]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 0, nanoUsd: 90 } }))
      expect(crossings).toEqual([])
      await ledger.settle('a', toUsage({ nanoUsd: 79 }))
      expect(crossings.map(({ threshold }) => threshold)).toEqual([10, 50])
    }))

  test('a quota with grace admits into the grace, reports its first use and refuses above it', () =>
    withLedger(async (ledger, crossings) => {
      const quota: QuotaPolicy = {
        id: 'q',
        createdAt: 0,
        updatedAt: 0,
        scope: 'environment',
        ref: null,
        metric: 'tokens',
        window: 'month',
        limit: 100,
        gracePct: 10,
      }
      const caller = { orgId: 'org', projectId: 'project', environmentId: 'environment', keyId: 'key' }
      const policies = { timeZone: 'UTC', limits: [], budgets: [], plans: [], hasSpecialEndUsers: false }
      const { meters } = listMeters({ ...policies, quotas: [quota] }, { ...caller, endUser: null }, T)
      const spend = async (id: string, tokens: number): Promise<void> => {
        const verdict = await ledger.reserve(toRequest(id, meters, { amounts: { tokens, nanoUsd: 0 } }))
        expect(verdict.isAdmitted).toBe(true)
        await ledger.settle(id, toUsage({ tokens }))
      }
      await spend('within', 100)
      expect(crossings).toEqual([])
      await spend('in grace', 10)
      expect(crossings.map(({ threshold, settled }) => [threshold, settled])).toEqual([[101, 110]])
      const above = toRequest('above', meters, { amounts: { tokens: 1, nanoUsd: 0 } })
      expect(refusalOf(await ledger.reserve(above))).toMatchObject({
        meter: { limit: 110, nominalLimit: 100 },
        settled: 110,
        wanted: 1,
      })
    }))
})
