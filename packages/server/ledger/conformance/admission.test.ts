import { expect, test } from 'vitest'
import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import type { ReserveRequest, Verdict } from '../ledger.ts'
import { describeOnEachLedger } from '../testing/describe-on-each-ledger.ts'
import { CALLER, makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { refusalOf } from '../testing/with-ledger.ts'

/** Names of properties and of keys in Redis, characters with a meaning in JSON or Redis, and long ones. */
const UNUSUAL_NAMES = [
  '__proto__',
  'constructor',
  'a b',
  '{org}',
  'x',
  'x:t',
  'times:x',
  'é\n\u0000"\\',
  '🦊',
  'u'.repeat(4096),
]

describeOnEachLedger('admission', withLedger => {
  test('admits 20 of 300 concurrent requests that reserve a twentieth of the budget each', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 1_000_000_000)]
      const amounts = { tokens: 0, nanoUsd: 50_000_000 }
      const verdicts = await Promise.all(
        Array.from({ length: 300 }, (_, index) =>
          ledger.reserve(toRequest(`r${index}`, meters, { amounts })),
        ),
      )
      expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(20)
      const [status] = (await ledger.read(meters, T)) ?? []
      expect(status).toMatchObject({ settled: 0, reserved: 1_000_000_000 })
    }))

  test('exceeds none of five nested budgets under concurrency, and refusals reserve nothing on any of them', () =>
    withLedger(async ledger => {
      const levels = {
        org: makeMeter('budget', 100, { key: 'org' }),
        project: makeMeter('budget', 95, { key: 'project', subject: { projectId: 'project' } }),
      }
      const keys = ['k1', 'k2'].map((keyId, index) =>
        makeMeter('budget', [35, 80][index] as number, { key: keyId, subject: { keyId } }),
      )
      const environments = ['e1', 'e2'].map(environmentId =>
        makeMeter('budget', 60, { key: environmentId, subject: { environmentId } }),
      )
      const users = ['u1', 'u2', 'u3'].map(endUserId =>
        makeMeter('budget', 40, { key: endUserId, subject: { endUserId } }),
      )
      const amounts = { tokens: 0, nanoUsd: 5 }
      const requests = Array.from({ length: 120 }, (_, index): ReserveRequest => {
        const [key, user, environment] = [index % 2, index % 3, (index >> 2) % 2]
        const meters = [
          ...Object.values(levels),
          environments[environment] as Meter,
          keys[key] as Meter,
          users[user] as Meter,
        ]
        return toRequest(`r${index}`, meters, { amounts })
      })
      const verdicts = await Promise.all(requests.map(each => ledger.reserve(each)))
      const admitted = requests.filter((_, index) => verdicts[index]?.isAdmitted)
      const meters = [...Object.values(levels), ...environments, ...keys, ...users]
      const statuses = (await ledger.read(meters, T)) ?? []
      const roomOf = new Map(statuses.map(({ meter, reserved }) => [meter, meter.limit - reserved]))
      for (const { meter, settled, reserved } of statuses) {
        expect(settled).toBe(0)
        expect(reserved).toBe(5 * admitted.filter(each => each.meters.includes(meter)).length)
        expect(reserved).toBeLessThanOrEqual(meter.limit)
      }
      // Nothing was given back, so each refused request must still lack room on one of its levels.
      for (const [index, { isAdmitted }] of verdicts.entries()) {
        if (!isAdmitted) expect(requests[index]?.meters.some(each => (roomOf.get(each) ?? 0) < 5)).toBe(true)
      }
      expect(admitted.length).toBeGreaterThan(5)
    }))

  const LEVELS: Record<string, Partial<MeterSubject>> = {
    organization: {},
    project: { projectId: 'project' },
    environment: { environmentId: 'environment' },
    key: { keyId: 'key' },
    'end user': { endUserId: 'user' },
  }
  test.each(Object.keys(LEVELS))('a refusal by the budget of the %s reserves nothing elsewhere', full =>
    withLedger(async ledger => {
      const meters = Object.entries(LEVELS).map(([key, subject]) =>
        makeMeter('budget', key === full ? 4 : 100, { key, subject }),
      )
      const amounts = { tokens: 0, nanoUsd: 5 }
      const refusal = refusalOf(await ledger.reserve(toRequest('a', meters, { amounts })))
      expect(refusal.meter.key).toBe(`${full}@0`)
      for (const status of (await ledger.read(meters, T)) ?? []) {
        expect(status).toMatchObject({ settled: 0, reserved: 0 })
      }
    }),
  )

  test('a refusal by one kind of meter reserves nothing on the others', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100), makeMeter('rate', 5), makeMeter('concurrency', 0)]
      const verdict = await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 1, nanoUsd: 50 } }))
      expect(verdict).toMatchObject({
        isAdmitted: false,
        refusal: { meter: { key: 'concurrency' }, settled: 0, reserved: 0, wanted: 1, retryAt: null },
      })
      for (const status of (await ledger.read(meters, T)) ?? []) {
        expect(status).toMatchObject({ settled: 0, reserved: 0 })
      }
    }))

  test('names the refusing meter with the longest wait', () =>
    withLedger(async ledger => {
      const day = { since: T - 1000, end: T + 86_000_000 }
      const tokens = makeMeter('tokens', 10, day)
      const meters = [makeMeter('rate', 0), tokens, makeMeter('concurrency', 0)]
      const verdict = await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 5, nanoUsd: 0 } }))
      // A rate of 0 never admits anything.
      expect(verdict).toMatchObject({ refusal: { meter: { key: 'rate' }, retryAt: null } })
      await ledger.reserve(toRequest('b', [tokens], { amounts: { tokens: 8, nanoUsd: 0 } }))
      const full = await ledger.reserve(
        toRequest('c', [makeMeter('concurrency', 0), tokens], { amounts: { tokens: 3, nanoUsd: 0 } }),
      )
      expect(full).toMatchObject({
        refusal: {
          meter: { metric: 'tokens' },
          settled: 0,
          reserved: 8,
          wanted: 3,
          retryAt: day.end,
          resetAt: day.end,
        },
      })
    }))

  test('a refusal shows the settled and reserved amounts and the reset time that read returns', () =>
    withLedger(async ledger => {
      const day = { since: T - 1000, end: T + 86_000_000 }
      const meters = [
        makeMeter('budget', 100, { ...day, key: 'spend' }),
        makeMeter('token_rate', 50, { windowMs: 10_000 }),
      ]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 20, nanoUsd: 30 } }))
      await ledger.settle('a', toUsage({ tokens: 10, nanoUsd: 25 }))
      const running = { at: T + 500, amounts: { tokens: 30, nanoUsd: 60 } }
      await ledger.reserve(toRequest('b', meters, running))
      for (const [index, amounts] of [
        { tokens: 0, nanoUsd: 16 },
        { tokens: 11, nanoUsd: 0 },
      ].entries()) {
        const request = toRequest(`c${index}`, meters, { at: T + 600, amounts })
        const { meter, settled, reserved, resetAt } = refusalOf(await ledger.reserve(request))
        const statuses = (await ledger.read(meters, T + 600)) ?? []
        expect(meter).toBe(meters[index])
        expect(statuses[index]).toEqual({ meter, settled, reserved, resetAt })
      }
    }))

  test('admits exactly up to a limit of 2^53 - 1', () =>
    withLedger(async ledger => {
      const limit = Number.MAX_SAFE_INTEGER
      const meters = [makeMeter('budget', limit)]
      const request = (id: string, nanoUsd: number): ReserveRequest =>
        toRequest(id, meters, { amounts: { tokens: 0, nanoUsd } })
      expect((await ledger.reserve(request('a', limit - 3))).isAdmitted).toBe(true)
      expect((await ledger.reserve(request('b', 4))).isAdmitted).toBe(false)
      await ledger.settle('a', toUsage({ nanoUsd: limit - 3 }))
      expect((await ledger.reserve(request('c', 2))).isAdmitted).toBe(true)
      expect((await ledger.reserve(request('d', 2))).isAdmitted).toBe(false)
      expect(await ledger.read(meters, T)).toMatchObject([{ settled: limit - 3, reserved: 2 }])
    }))

  test('a limit of 0 admits only requests that add nothing to it', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 0), makeMeter('tokens', 0), makeMeter('token_rate', 0)]
      expect((await ledger.reserve(toRequest('free', meters))).isAdmitted).toBe(true)
      for (const amounts of [
        { tokens: 1, nanoUsd: 0 },
        { tokens: 0, nanoUsd: 1 },
      ]) {
        const refusal = refusalOf(await ledger.reserve(toRequest('priced', meters, { amounts })))
        expect(refusal).toMatchObject({ wanted: 1, retryAt: null })
      }
      for (const kind of ['rate', 'requests', 'concurrency'] as const) {
        expect((await ledger.reserve(toRequest(kind, [makeMeter(kind, 0)]))).isAdmitted).toBe(false)
      }
    }))

  test('a request without meters is admitted and can be ended', () =>
    withLedger(async ledger => {
      expect(await ledger.reserve(toRequest('a', []))).toEqual({ isAdmitted: true, statuses: [] })
      expect(await ledger.read([], T)).toEqual([])
      expect(await ledger.extend('a', { tokens: 5, nanoUsd: 5 }, T, 1000)).toMatchObject({
        isAdmitted: true,
      })
      await ledger.settle('a', toUsage({ nanoUsd: 5 }))
      expect(await ledger.extend('a', { tokens: 5, nanoUsd: 5 }, T, 1000)).toHaveProperty('unavailable')
    }))

  test('a limit that is lowered below the usage refuses every request, and raised again admits up to it', () =>
    withLedger(async ledger => {
      const amounts = { tokens: 0, nanoUsd: 10 }
      const at = (limit: number): readonly Meter[] => [makeMeter('budget', limit)]
      expect((await ledger.reserve(toRequest('a', at(50), { amounts }))).isAdmitted).toBe(true)
      const refusal = refusalOf(await ledger.reserve(toRequest('b', at(5))))
      expect(refusal).toMatchObject({ reserved: 10, wanted: 0, retryAt: null })
      expect((await ledger.reserve(toRequest('c', at(20), { amounts }))).isAdmitted).toBe(true)
      expect((await ledger.reserve(toRequest('d', at(20), { amounts }))).isAdmitted).toBe(false)
    }))

  test('a second reservation with the id of a running one is a programming error', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100)]
      const amounts = { tokens: 0, nanoUsd: 10 }
      await ledger.reserve(toRequest('a', meters, { amounts }))
      await expect((async () => ledger.reserve(toRequest('a', meters, { amounts })))()).rejects.toThrow(
        'request a has a reservation already',
      )
      expect(await ledger.read(meters, T)).toMatchObject([{ reserved: 10 }])
    }))

  test.each([
    ['as listed', UNUSUAL_NAMES],
    ['reversed', [...UNUSUAL_NAMES].reverse()],
  ])('keeps the counters of end users with unusual names apart: %s', (_, names) =>
    withLedger(async ledger => {
      const reserve = (id: string, endUserId: string): Verdict | Promise<Verdict> => {
        const meter = makeMeter('token_rate', 5, { key: `rate:${endUserId}`, subject: { endUserId } })
        const amounts = { tokens: 3, nanoUsd: 0 }
        return ledger.reserve(toRequest(id, [meter], { amounts, subject: { ...CALLER, endUserId } }))
      }
      for (const name of names) {
        const verdict = await reserve(`first ${name}`, name)
        expect(verdict).toMatchObject({ isAdmitted: true, statuses: [{ settled: 0, reserved: 3 }] })
      }
      for (const name of names) {
        expect(refusalOf(await reserve(`second ${name}`, name))).toMatchObject({ settled: 0, reserved: 3 })
      }
    }),
  )

  test('the status of a meter that no request has used is zero', () =>
    withLedger(async ledger => {
      const day = { since: T - 1000, end: T + 86_000_000 }
      const meters = [makeMeter('rate', 5), makeMeter('budget', 5), makeMeter('tokens', 5, day)]
      expect(await ledger.read([...meters, makeMeter('concurrency', 5)], T)).toMatchObject([
        { settled: 0, reserved: 0, resetAt: null },
        { settled: 0, reserved: 0, resetAt: null },
        { settled: 0, reserved: 0, resetAt: day.end },
        { settled: 0, reserved: 0, resetAt: null },
      ])
    }))
})
