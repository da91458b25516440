import { expect, test } from 'vitest'
import { describeOnEachLedger } from '../testing/describe-on-each-ledger.ts'
import { makeMeter, T, toRequest, toUsage } from '../testing/make-meter.ts'
import { refusalOf } from '../testing/with-ledger.ts'

describeOnEachLedger('leases', withLedger => {
  test('a lease that runs out counts as used what was reserved; the late settle corrects it', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100), makeMeter('concurrency', 1), makeMeter('token_rate', 100)]
      const amounts = { tokens: 30, nanoUsd: 60 }
      await ledger.reserve(toRequest('a', meters, { amounts, leaseMs: 1000 }))
      expect(await ledger.expire(T + 999)).toBe(0)
      expect(await ledger.expire(T + 1001)).toBe(1)
      expect(await ledger.read(meters, T + 1001)).toMatchObject([
        { settled: 60, reserved: 0 },
        { settled: 0, reserved: 0 },
        { settled: 30, reserved: 0 },
      ])
      await ledger.settle('a', toUsage({ nanoUsd: 10, tokens: 5 }))
      await ledger.settle('a', toUsage({ nanoUsd: 10, tokens: 5 }))
      expect(await ledger.read(meters, T + 1001)).toMatchObject([
        { settled: 10 },
        { settled: 0 },
        { settled: 5 },
      ])
    }))

  test('an extended lease does not expire, also where more was refused', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100)]
      const amounts = { tokens: 0, nanoUsd: 60 }
      await ledger.reserve(toRequest('a', meters, { amounts, leaseMs: 1000 }))
      expect((await ledger.extend('a', amounts, T + 900, 1000)).isAdmitted).toBe(true)
      expect(await ledger.expire(T + 1800)).toBe(0)
      const tooMuch = { tokens: 0, nanoUsd: 101 }
      expect((await ledger.extend('a', tooMuch, T + 1800, 1000)).isAdmitted).toBe(false)
      expect(await ledger.read(meters, T + 1800)).toMatchObject([{ settled: 0, reserved: 60 }])
      expect(await ledger.expire(T + 2800)).toBe(0)
      expect(await ledger.expire(T + 2801)).toBe(1)
    }))

  test('an expired reservation whose request goes on is reserved again, and its release gives back all of it', () =>
    withLedger(async ledger => {
      const meters = [
        makeMeter('budget', 100),
        makeMeter('concurrency', 2),
        makeMeter('tokens', 100),
        makeMeter('token_rate', 100),
      ]
      const amounts = { tokens: 30, nanoUsd: 60 }
      await ledger.reserve(toRequest('a', meters, { amounts, leaseMs: 1000 }))
      await ledger.reserve(toRequest('b', meters, { amounts: { tokens: 1, nanoUsd: 1 }, leaseMs: 1000 }))
      expect(await ledger.expire(T + 2000)).toBe(2)
      expect((await ledger.extend('a', amounts, T + 2000, 1000)).isAdmitted).toBe(true)
      expect(await ledger.read(meters, T + 2000)).toMatchObject([
        { settled: 1, reserved: 60 },
        { settled: 0, reserved: 1 },
        { settled: 1, reserved: 30 },
        { settled: 1, reserved: 30 },
      ])
      await ledger.release('a')
      await ledger.release('b')
      expect(await ledger.read(meters, T + 2000)).toMatchObject([
        { settled: 0, reserved: 0 },
        { settled: 0, reserved: 0 },
        { settled: 0, reserved: 0 },
        { settled: 0, reserved: 0 },
      ])
    }))

  test('an expired reservation is restored even where others took its place, but cannot grow', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('concurrency', 1), makeMeter('budget', 100)]
      const amounts = { tokens: 0, nanoUsd: 40 }
      await ledger.reserve(toRequest('a', meters, { amounts, leaseMs: 1000 }))
      await ledger.expire(T + 2000)
      const other = toRequest('b', meters, { at: T + 2000, amounts: { tokens: 0, nanoUsd: 60 } })
      expect((await ledger.reserve(other)).isAdmitted).toBe(true)
      expect((await ledger.extend('a', amounts, T + 2000, 1000)).isAdmitted).toBe(true)
      const both = [{ reserved: 2 }, { settled: 0, reserved: 100 }]
      expect(await ledger.read(meters, T + 2000)).toMatchObject(both)
      const more = await ledger.extend('a', { tokens: 0, nanoUsd: 41 }, T + 2000, 1000)
      expect(refusalOf(more)).toMatchObject({ meter: { metric: 'nano_usd' }, wanted: 1 })
      expect(await ledger.read(meters, T + 2000)).toMatchObject(both)
    }))

  test('an extension that one meter refuses changes no meter, and names what it wanted more', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100), makeMeter('tokens', 50), makeMeter('token_rate', 200)]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 40, nanoUsd: 10 } }))
      const verdict = await ledger.extend('a', { tokens: 51, nanoUsd: 20 }, T, 60_000)
      expect(refusalOf(verdict)).toMatchObject({ meter: { metric: 'tokens' }, reserved: 40, wanted: 11 })
      const before = [{ reserved: 10 }, { reserved: 40 }, { reserved: 40 }]
      expect(await ledger.read(meters, T)).toMatchObject(before)
      const granted = await ledger.extend('a', { tokens: 50, nanoUsd: 20 }, T, 60_000)
      const after = [{ reserved: 20 }, { reserved: 50 }, { reserved: 50 }]
      expect(granted).toMatchObject({ isAdmitted: true, statuses: after })
      expect(await ledger.read(meters, T)).toMatchObject(after)
    }))

  test('an extension to less gives room to others at once and never fails', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100)]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 0, nanoUsd: 100 } }))
      const other = { amounts: { tokens: 0, nanoUsd: 70 } }
      expect((await ledger.reserve(toRequest('b', meters, other))).isAdmitted).toBe(false)
      expect((await ledger.extend('a', { tokens: 0, nanoUsd: 30 }, T, 60_000)).isAdmitted).toBe(true)
      expect((await ledger.reserve(toRequest('c', meters, other))).isAdmitted).toBe(true)
      // Usage above the reservation takes the counter over its limit.
      await ledger.settle('c', toUsage({ nanoUsd: 500 }))
      expect((await ledger.extend('a', { tokens: 0, nanoUsd: 29 }, T, 60_000)).isAdmitted).toBe(true)
    }))

  test('an extension of an ended or unknown reservation is unavailable and reserves nothing', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('budget', 100)]
      const amounts = { tokens: 0, nanoUsd: 10 }
      await ledger.reserve(toRequest('settled', meters, { amounts }))
      await ledger.settle('settled', toUsage())
      await ledger.reserve(toRequest('released', meters, { amounts }))
      await ledger.release('released')
      for (const id of ['settled', 'released', 'unknown']) {
        const verdict = await ledger.extend(id, amounts, T, 60_000)
        expect(verdict).toEqual({ isAdmitted: false, unavailable: 'the reservation has ended' })
      }
      expect(await ledger.read(meters, T)).toMatchObject([{ settled: 0, reserved: 0 }])
    }))

  test('an extension counts in a rolling window from the time of admission', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('token_rate', 100, { windowMs: 1000 })]
      await ledger.reserve(toRequest('a', meters, { amounts: { tokens: 10, nanoUsd: 0 } }))
      await ledger.extend('a', { tokens: 90, nanoUsd: 0 }, T + 900, 60_000)
      expect(await ledger.read(meters, T + 999)).toMatchObject([{ reserved: 90, resetAt: T + 1000 }])
      expect(await ledger.read(meters, T + 1000)).toMatchObject([{ reserved: 0 }])
      // Its entry has left the window: neither more nor the settle counts any more.
      expect((await ledger.extend('a', { tokens: 95, nanoUsd: 0 }, T + 1000, 60_000)).isAdmitted).toBe(true)
      await ledger.settle('a', toUsage({ tokens: 99 }))
      expect(await ledger.read(meters, T + 1000)).toMatchObject([{ settled: 0, reserved: 0 }])
    }))

  test('expires every reservation whose lease has run out, and no other', () =>
    withLedger(async ledger => {
      const meters = [makeMeter('concurrency', 1000), makeMeter('budget', 1000)]
      const amounts = { tokens: 0, nanoUsd: 1 }
      for (let index = 0; index < 250; index++) {
        await ledger.reserve(toRequest(`r${index}`, meters, { amounts, leaseMs: 1000 + (index % 2) }))
      }
      expect(await ledger.expire(T + 1001)).toBe(125)
      expect(await ledger.read(meters, T + 1001)).toMatchObject([
        { settled: 0, reserved: 125 },
        { settled: 125, reserved: 125 },
      ])
      expect(await ledger.expire(T + 1002)).toBe(125)
      expect(await ledger.expire(T + 1003)).toBe(0)
    }))
})
