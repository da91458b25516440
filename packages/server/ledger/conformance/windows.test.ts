import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import { toLimitFault } from '../../gateway/limits/limit-fault.ts'
import type { Verdict } from '../ledger.ts'
import { describeOnEachLedger } from '../testing/describe-on-each-ledger.ts'
import { makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { refusalOf } from '../testing/with-ledger.ts'

describeOnEachLedger('windows', withLedger => {
  test('admits 60 requests in any minute, and a request that waits until its retryAt', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('rate', 60)]
      const admitted: number[] = []
      let at = T
      for (let index = 0; admitted.length < 200; index++) {
        at += (index * 7919) % 900
        const verdict = await ledger.reserve(toRequest(`a${index}`, meters, { at }))
        if (!verdict.isAdmitted) {
          const retryAt = refusalOf(verdict).retryAt ?? 0
          expect(retryAt).toBeGreaterThan(at)
          const early = toRequest(`b${index}`, meters, { at: retryAt - 1 })
          expect((await ledger.reserve(early)).isAdmitted).toBe(false)
          at = retryAt
          expect((await ledger.reserve(toRequest(`c${index}`, meters, { at }))).isAdmitted).toBe(true)
        }
        admitted.push(at)
      }
      for (const end of admitted) {
        expect(admitted.filter(time => time > end - 60_000 && time <= end).length).toBeLessThanOrEqual(60)
      }
    }))

  test('admits a request that waits exactly its Retry-After, if no other request arrives', async () => {
    const ask = fc.record({
      after: fc.nat(9_000),
      tokens: fc.integer({ min: 0, max: 40 }),
      /** Per cent of what was reserved; none: the request keeps running. */
      used: fc.option(fc.nat(100)),
    })
    let refusals = 0
    const property = fc.asyncProperty(fc.array(ask, { minLength: 5, maxLength: 40 }), asks =>
      withLedger(async ledger => {
        const rates = [makeMeter('rate', 6), makeMeter('token_rate', 90, { windowMs: 20_000 })]
        // And a quota, in consecutive windows.
        const metersAt = (at: number): Meter[] => {
          const since = at - ((at - T) % 45_000)
          return [...rates, makeMeter('requests', 8, { since, end: since + 45_000 })]
        }
        let at = T
        for (const [index, { after, tokens, used }] of asks.entries()) {
          at += after
          const amounts = { tokens, nanoUsd: 0 }
          const reserve = (id: string): Verdict | Promise<Verdict> =>
            ledger.reserve(toRequest(id, metersAt(at), { at, amounts, leaseMs: 10_000_000 }))
          let id = `ask ${index}`
          let verdict = await reserve(id)
          if (!verdict.isAdmitted) {
            refusals++
            at +=
              (toLimitFault(refusalOf(verdict), { kind: 'secret', keyId: 'key' }, at).retryAfterSeconds ??
                0) * 1000
            id = `waited ${index}`
            verdict = await reserve(id)
            // If the quota's window has ended meanwhile, the next one has room.
            expect(verdict.isAdmitted).toBe(true)
          }
          if (used !== null) await ledger.settle(id, toUsage({ tokens: Math.floor((tokens * used) / 100) }))
        }
      }),
    )
    await fc.assert(property, { numRuns: 40 })
    expect(refusals).toBeGreaterThan(50)
  }, 120_000)

  test('a retryAt is exact in 100 of 100 trials: refused a millisecond before, admitted at it', () =>
    withLedger(async ledger => {
      for (let trial = 0; trial < 100; trial++) {
        const windowMs = 500 + trial * 37
        const meters = [
          makeMeter('rate', 3, { key: `rate ${trial}`, windowMs }),
          makeMeter('token_rate', 20, { key: `tokens ${trial}`, windowMs: windowMs + 100 }),
        ]
        const reserve = (id: string, at: number, tokens: number): Verdict | Promise<Verdict> =>
          ledger.reserve(toRequest(`${trial} ${id}`, meters, { at, amounts: { tokens, nanoUsd: 0 } }))
        // Fills by requests, by tokens, or by both.
        for (let index = 0; index < 3; index++) {
          await reserve(`fill ${index}`, T + index * 40, [1, 7, 6][(trial + index) % 3] as number)
        }
        const wanted = 1 + (trial % 20)
        const retryAt = refusalOf(await reserve('refused', T + 120, wanted)).retryAt as number
        expect((await reserve('early', retryAt - 1, wanted)).isAdmitted).toBe(false)
        expect((await reserve('waited', retryAt, wanted)).isAdmitted).toBe(true)
      }
    }))

  test('counts what is within the window, however many entries leave it at once', () =>
    withLedger(async ledger => {
      for (const left of [0, 1, 15, 16, 17, 47, 48, 49, 120]) {
        const meter = makeMeter('token_rate', 1_000_000, { key: `left ${left}`, windowMs: 1000 })
        const amounts = { tokens: 3, nanoUsd: 0 }
        const reserveAt = (at: number): Verdict | Promise<Verdict> =>
          ledger.reserve(toRequest(`${left}/${at}`, [meter], { at, amounts }))
        for (let index = 0; index < left; index++) await reserveAt(T + index)
        const later = T + 1000 + left
        await reserveAt(later - 1000)
        expect(await ledger.read([meter], later - 1)).toMatchObject([{ reserved: 3, resetAt: later }])
        expect(await ledger.read([meter], later)).toMatchObject([{ reserved: 0, resetAt: null }])
      }
    }))

  test('a rolling entry counts in the last millisecond of its window and not in the next', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('rate', 1, { windowMs: 1000 })]
      expect((await ledger.reserve(toRequest('a', meters))).isAdmitted).toBe(true)
      await ledger.settle('a', toUsage())
      const last = await ledger.reserve(toRequest('b', meters, { at: T + 999 }))
      expect(refusalOf(last)).toMatchObject({ settled: 1, retryAt: T + 1000, resetAt: T + 1000 })
      expect((await ledger.reserve(toRequest('c', meters, { at: T + 1000 }))).isAdmitted).toBe(true)
    }))

  test('a request counts in the fixed window of its admission, also when it ends in the next one', () =>
    withLedger(async ledger => {
      const first = makeMeter('tokens', 10, { since: T - 1000, end: T })
      const second = makeMeter('tokens', 10, { since: T, end: T + 1000 })
      const amounts = { tokens: 8, nanoUsd: 0 }
      const last = toRequest('last', [first], { at: T - 1, amounts })
      expect((await ledger.reserve(last)).isAdmitted).toBe(true)
      const next = toRequest('next', [second], { at: T, amounts })
      expect((await ledger.reserve(next)).isAdmitted).toBe(true)
      await ledger.settle('last', toUsage({ tokens: 9 }))
      expect(await ledger.read([first, second], T + 1)).toMatchObject([
        { settled: 9, reserved: 0, resetAt: T },
        { settled: 0, reserved: 8, resetAt: T + 1000 },
      ])
    }))

  test('a request that arrives before a window ends and is admitted after that counts in the window of its arrival only', () =>
    withLedger(async ledger => {
      const first = makeMeter('requests', 10, { since: T - 1000, end: T })
      const second = makeMeter('requests', 10, { since: T, end: T + 1000 })
      for (const id of ['ended', 'running', 'expired']) {
        const leaseMs = id === 'expired' ? 1 : 60_000
        const late = toRequest(id, [first], { arrivedAt: T - 1, at: T + 1, leaseMs })
        expect((await ledger.reserve(late)).isAdmitted).toBe(true)
      }
      await ledger.expire(T + 3)
      expect(await ledger.read([second], T + 3)).toMatchObject([{ settled: 0, reserved: 0 }])
      await ledger.settle('ended', toUsage())
      expect(await ledger.read([first, second], T + 3)).toMatchObject([
        { settled: 2, reserved: 1 },
        { settled: 0, reserved: 0 },
      ])
    }))

  test('tokens of any window exceed the limit by at most the estimate error of one request', () =>
    withLedger(async ledger => {
      const [limit, windowMs, error] = [1000, 6_000, 40]
      const meters = [makeMeter('token_rate', limit, { windowMs })]
      const used: { at: number; tokens: number }[] = []
      let seed = 7
      const random = (below: number): number => {
        seed = (seed * 16_807) % 2_147_483_647
        return seed % below
      }
      let at = T
      for (let index = 0; at < T + 10 * windowMs; index++) {
        at += random(60)
        const estimate = 20 + random(80)
        const amounts = { tokens: estimate, nanoUsd: 0 }
        const verdict = await ledger.reserve(toRequest(`r${index}`, meters, { at, amounts }))
        if (!verdict.isAdmitted) continue
        const tokens = estimate + random(2 * error + 1) - error
        await ledger.settle(`r${index}`, toUsage({ tokens: Math.max(0, tokens) }))
        used.push({ at, tokens: Math.max(0, tokens) })
      }
      for (const { at: end } of used) {
        const within = used.filter(each => each.at > end - windowMs && each.at <= end)
        expect(within.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(limit + error)
      }
      expect(used.length).toBeGreaterThan(100)
    }))

  test('a request that comes with an earlier time counts from the time of the latest one', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('rate', 2), makeMeter('token_rate', 100)]
      const settings = { amounts: { tokens: 5, nanoUsd: 0 }, leaseMs: 10_000_000 }
      await ledger.reserve(toRequest('a', meters, settings))
      // The clock was set back by half a minute.
      await ledger.reserve(toRequest('b', meters, { ...settings, at: T - 30_000 }))
      const refusal = refusalOf(await ledger.reserve(toRequest('c', meters, { ...settings, at: T - 29_999 })))
      expect(refusal).toMatchObject({ meter: { key: 'rate' }, reserved: 2, retryAt: T + 60_000 })
      const counted = [
        { reserved: 2, resetAt: T + 60_000 },
        { reserved: 10, resetAt: T + 60_000 },
      ]
      expect(await ledger.read(meters, T + 59_999)).toMatchObject(counted)
      const ended = [
        { reserved: 0, resetAt: null },
        { reserved: 0, resetAt: null },
      ]
      expect(await ledger.read(meters, T + 60_000)).toMatchObject(ended)
    }))

  test('a clock that is set back never frees room in a fixed window or of a running request', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 10), makeMeter('concurrency', 1)]
      const amounts = { tokens: 0, nanoUsd: 10 }
      await ledger.reserve(toRequest('a', meters, { amounts }))
      expect(await ledger.expire(T - 86_400_000)).toBe(0)
      const earlier = toRequest('b', meters, { at: T - 86_400_000, amounts })
      expect((await ledger.reserve(earlier)).isAdmitted).toBe(false)
      expect(await ledger.read(meters, T - 86_400_000)).toMatchObject([{ reserved: 10 }, { reserved: 1 }])
    }))
})
