import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Meter } from '../../core/meter.ts'
import { toLimitFault } from '../../gateway/limits/limit-fault.ts'
import type { AdmitRequest, Crossing, Ledger, SeedSource, Used, Verdict } from '../../ledger/ledger.ts'
import { CALLER, LedgerModel, makeMeter, openSeeds } from './ledger-model.ts'

export interface SuiteLedger {
  readonly ledger: Ledger
  /** Ends what was opened for it. */
  close(): Promise<void>
}

/** Opens a ledger whose counters are all new. Time is what the calls say. */
export type OpenLedger = (options: {
  readonly seeds: SeedSource
  readonly onCrossing: (crossing: Crossing) => void
}) => Promise<SuiteLedger>

const T = 1_000_000_000_000
const NOTHING = { tokens: 0, nanoUsd: 0 }
const SERVED: Used = { requests: 1, tokens: 0, nanoUsd: 0, isSandbox: false }

function toRequest(id: string, meters: readonly Meter[], more: Partial<AdmitRequest> = {}): AdmitRequest {
  return { id, at: T, meters, subject: CALLER, hold: NOTHING, leaseMs: 60_000, ...more }
}

/** What every ledger keeps, whatever it counts with. */
export function describeLedger(name: string, open: OpenLedger): void {
  const withLedger = async (
    use: (ledger: Ledger, crossings: Crossing[]) => Promise<void>,
    seeds = openSeeds(),
  ): Promise<void> => {
    const crossings: Crossing[] = []
    const { ledger, close } = await open({ seeds, onCrossing: each => crossings.push(each) })
    try {
      await use(ledger, crossings)
    } finally {
      await close()
    }
  }

  describe(`a ledger ${name}`, () => {
    test('agrees with a ledger that counts every request again, whatever the order of events', async () => {
      await fc.assert(
        fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (counts, steps) =>
          withLedger(ledger => follow(ledger, makeMeters(counts), steps)),
        ),
        { numRuns: 60 },
      )
    }, 120_000)

    test('300 at once of exactly a twentieth of the budget: 20 are admitted', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 1_000_000_000)]
        const hold = { tokens: 0, nanoUsd: 50_000_000 }
        const verdicts = await Promise.all(
          Array.from({ length: 300 }, (_, index) => ledger.admit(toRequest(`r${index}`, meters, { hold }))),
        )
        expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(20)
        const [standing] = (await ledger.read(meters, T)) ?? []
        expect(standing).toMatchObject({ settled: 0, held: 1_000_000_000 })
      }))

    test('a refusal by one meter leaves no hold at another', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100), makeMeter('rate', 5), makeMeter('concurrency', 0)]
        const verdict = await ledger.admit(toRequest('a', meters, { hold: { tokens: 1, nanoUsd: 50 } }))
        expect(verdict).toMatchObject({
          isAdmitted: false,
          refused: { meter: { key: 'concurrency' }, settled: 0, held: 0, wanted: 1, retryAt: null },
        })
        for (const standing of (await ledger.read(meters, T)) ?? []) {
          expect(standing).toMatchObject({ settled: 0, held: 0 })
        }
      }))

    test('in any span of a minute 60 are admitted, and who waits as long as told gets through', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('rate', 60)]
        const admitted: number[] = []
        let at = T
        for (let index = 0; admitted.length < 200; index++) {
          at += (index * 7919) % 900
          const verdict = await ledger.admit(toRequest(`a${index}`, meters, { at }))
          if (!verdict.isAdmitted) {
            const retryAt = 'refused' in verdict ? (verdict.refused.retryAt ?? 0) : 0
            expect(retryAt).toBeGreaterThan(at)
            expect((await ledger.admit(toRequest(`b${index}`, meters, { at: retryAt - 1 }))).isAdmitted).toBe(
              false,
            )
            at = retryAt
            expect((await ledger.admit(toRequest(`c${index}`, meters, { at }))).isAdmitted).toBe(true)
          }
          admitted.push(at)
        }
        for (const end of admitted) {
          expect(admitted.filter(time => time > end - 60_000 && time <= end).length).toBeLessThanOrEqual(60)
        }
      }))

    test('who waits exactly as long as a refusal’s Retry-After says is admitted, where nobody else comes', async () => {
      const ask = fc.record({
        after: fc.nat(9_000),
        tokens: fc.integer({ min: 0, max: 40 }),
        /** In per cent of what was held; none: it runs on. */
        used: fc.option(fc.nat(100)),
      })
      let refusals = 0
      const property = fc.asyncProperty(fc.array(ask, { minLength: 5, maxLength: 40 }), asks =>
        withLedger(async ledger => {
          const rates = [makeMeter('rate', 6), makeMeter('token_rate', 90, { windowMs: 20_000 })]
          // And a quota, of one window after the other.
          const metersAt = (at: number): Meter[] => {
            const since = at - ((at - T) % 45_000)
            return [...rates, makeMeter('requests', 8, { since, end: since + 45_000 })]
          }
          let at = T
          for (const [index, { after, tokens, used }] of asks.entries()) {
            at += after
            const hold = { tokens, nanoUsd: 0 }
            const admit = (id: string): Verdict | Promise<Verdict> =>
              ledger.admit(toRequest(id, metersAt(at), { at, hold, leaseMs: 10_000_000 }))
            let id = `ask ${index}`
            let verdict = await admit(id)
            if (!verdict.isAdmitted) {
              if (!('refused' in verdict)) throw new Error(verdict.unavailable)
              refusals++
              at += (toLimitFault(verdict.refused, at).retryAfterSeconds ?? 0) * 1000
              id = `waited ${index}`
              verdict = await admit(id)
              // The window may end while it waits for a rate, but the next one has room.
              expect(verdict.isAdmitted).toBe(true)
            }
            if (used !== null)
              await ledger.settle(id, { ...SERVED, tokens: Math.floor((tokens * used) / 100) })
          }
        }),
      )
      await fc.assert(property, { numRuns: 40 })
      expect(refusals).toBeGreaterThan(50)
    }, 120_000)

    test('counts what is in the window, however much has left it at once', () =>
      withLedger(async ledger => {
        for (const left of [0, 1, 15, 16, 17, 47, 48, 49, 120]) {
          const meter = makeMeter('token_rate', 1_000_000, { key: `left ${left}`, windowMs: 1000 })
          const hold = { tokens: 3, nanoUsd: 0 }
          const admitAt = (at: number): Verdict | Promise<Verdict> =>
            ledger.admit(toRequest(`${left}/${at}`, [meter], { at, hold }))
          for (let index = 0; index < left; index++) await admitAt(T + index)
          const later = T + 1000 + left
          await admitAt(later - 1000)
          expect(await ledger.read([meter], later - 1)).toMatchObject([{ held: 3, resetAt: later }])
          expect(await ledger.read([meter], later)).toMatchObject([{ held: 0, resetAt: null }])
        }
      }))

    test('names the meter that is longest to wait for', () =>
      withLedger(async ledger => {
        const day = { since: T - 1000, end: T + 86_000_000 }
        const meters = [makeMeter('rate', 0), makeMeter('tokens', 10, day), makeMeter('concurrency', 0)]
        const verdict = await ledger.admit(toRequest('a', meters, { hold: { tokens: 5, nanoUsd: 0 } }))
        // A rate of none never lets anything through.
        expect(verdict).toMatchObject({ refused: { meter: { key: 'rate' }, retryAt: null } })
        await ledger.admit(toRequest('b', [meters[1] as Meter], { hold: { tokens: 8, nanoUsd: 0 } }))
        const full = await ledger.admit(
          toRequest('c', [makeMeter('concurrency', 0), meters[1] as Meter], {
            hold: { tokens: 3, nanoUsd: 0 },
          }),
        )
        expect(full).toMatchObject({
          refused: {
            meter: { metric: 'tokens' },
            settled: 0,
            held: 8,
            wanted: 3,
            retryAt: day.end,
            resetAt: day.end,
          },
        })
      }))

    test('settles once by the request: a second settle, a release or an unknown id changes nothing', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100), makeMeter('concurrency', 1)]
        await ledger.admit(toRequest('a', meters, { hold: { tokens: 0, nanoUsd: 60 } }))
        for (let times = 0; times < 10; times++) await ledger.settle('a', { ...SERVED, nanoUsd: 40 })
        await ledger.release('a')
        await ledger.settle('never seen', { ...SERVED, nanoUsd: 40 })
        const [budget, running] = (await ledger.read(meters, T)) ?? []
        expect(budget).toMatchObject({ settled: 40, held: 0 })
        expect(running).toMatchObject({ settled: 0, held: 0 })
      }))

    test('counts what was used beyond a hold', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100)]
        await ledger.admit(toRequest('a', meters, { hold: { tokens: 0, nanoUsd: 60 } }))
        await ledger.settle('a', { ...SERVED, nanoUsd: 130 })
        expect(await ledger.read(meters, T)).toMatchObject([{ settled: 130, held: 0 }])
        expect((await ledger.admit(toRequest('b', meters))).isAdmitted).toBe(false)
      }))

    test("leaves the sandbox's answers out of real spend only", () =>
      withLedger(async ledger => {
        const meters = [
          makeMeter('budget', 100, { key: 'real', subject: { isRealOnly: true } }),
          makeMeter('budget', 100, { key: 'all' }),
        ]
        await ledger.admit(toRequest('a', meters, { hold: { tokens: 0, nanoUsd: 60 } }))
        await ledger.settle('a', { ...SERVED, nanoUsd: 50, isSandbox: true })
        expect(await ledger.read(meters, T)).toMatchObject([{ settled: 0 }, { settled: 50 }])
      }))

    test('a lease that runs out is settled as held; the late settle corrects it', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100), makeMeter('concurrency', 1), makeMeter('token_rate', 100)]
        const hold = { tokens: 30, nanoUsd: 60 }
        await ledger.admit(toRequest('a', meters, { hold, leaseMs: 1000 }))
        expect(await ledger.sweep(T + 999)).toBe(0)
        expect(await ledger.sweep(T + 1001)).toBe(1)
        expect(await ledger.read(meters, T + 1001)).toMatchObject([
          { settled: 60, held: 0 },
          { settled: 0, held: 0 },
          { settled: 30, held: 0 },
        ])
        await ledger.settle('a', { ...SERVED, nanoUsd: 10, tokens: 5 })
        await ledger.settle('a', { ...SERVED, nanoUsd: 10, tokens: 5 })
        expect(await ledger.read(meters, T + 1001)).toMatchObject([
          { settled: 10 },
          { settled: 0 },
          { settled: 5 },
        ])
      }))

    test('an extended lease lives on', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100)]
        const hold = { tokens: 0, nanoUsd: 60 }
        await ledger.admit(toRequest('a', meters, { hold, leaseMs: 1000 }))
        expect((await ledger.extend('a', hold, T + 900, 1000)).isAdmitted).toBe(true)
        expect(await ledger.sweep(T + 1800)).toBe(0)
        expect((await ledger.extend('a', { tokens: 0, nanoUsd: 101 }, T + 1800, 1000)).isAdmitted).toBe(false)
        expect(await ledger.read(meters, T + 1800)).toMatchObject([{ settled: 0, held: 60 }])
      }))

    test('a new counter begins with what the usage ledger says, and is asked for once', async () => {
      const meter = makeMeter('budget', 100)
      const rate = makeMeter('rate', 3)
      let asked = 0
      const known = openSeeds(
        new Map([
          [meter.key, { used: 60, entries: [] }],
          [
            rate.key,
            {
              used: 2,
              entries: [
                { at: T - 50_000, amount: 1 },
                { at: T - 10_000, amount: 1 },
              ],
            },
          ],
        ]),
      )
      const seeds: SeedSource = {
        read: (meters, at, onCut) => {
          asked += meters.length
          return known.read(meters, at, onCut)
        },
      }
      await withLedger(async ledger => {
        const hold = { tokens: 0, nanoUsd: 1 }
        const verdicts = await Promise.all(
          Array.from({ length: 100 }, (_, index) => ledger.admit(toRequest(`r${index}`, [meter], { hold }))),
        )
        expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(40)
        // A counter that is made while they run may count them already, or when they end.
        for (let index = 0; index < 100; index++) await ledger.release(`r${index}`)
        expect((await ledger.admit(toRequest('a', [rate]))).isAdmitted).toBe(true)
        const verdict = await ledger.admit(toRequest('b', [rate]))
        expect(verdict).toMatchObject({ refused: { settled: 2, held: 1, retryAt: T + 10_000 } })
        expect(asked).toBe(2)
      }, seeds)
    })

    test('a request that runs while a counter is made counts of it, at the latest when it ends', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100, { key: 'new' }), makeMeter('rate', 10)]
        await ledger.admit(toRequest('a', [], { hold: { tokens: 0, nanoUsd: 60 } }))
        await ledger.admit(toRequest('b', meters, { hold: { tokens: 0, nanoUsd: 10 } }))
        await ledger.settle('a', { ...SERVED, nanoUsd: 40 })
        await ledger.settle('a', { ...SERVED, nanoUsd: 40 })
        expect(await ledger.read(meters, T)).toMatchObject([
          { settled: 40, held: 10 },
          { settled: 1, held: 1 },
        ])
      }))

    test('counts exactly up to what a number holds', () =>
      withLedger(async ledger => {
        const limit = Number.MAX_SAFE_INTEGER
        const meters = [makeMeter('budget', limit)]
        const request = (id: string, nanoUsd: number): AdmitRequest =>
          toRequest(id, meters, { hold: { tokens: 0, nanoUsd } })
        expect((await ledger.admit(request('a', limit - 3))).isAdmitted).toBe(true)
        expect((await ledger.admit(request('b', 4))).isAdmitted).toBe(false)
        await ledger.settle('a', { ...SERVED, nanoUsd: limit - 3 })
        expect((await ledger.admit(request('c', 2))).isAdmitted).toBe(true)
        expect((await ledger.admit(request('d', 2))).isAdmitted).toBe(false)
        expect(await ledger.read(meters, T)).toMatchObject([{ settled: limit - 3, held: 2 }])
      }))

    test('a swept request that is alive after all holds again, and its release gives all of it back', () =>
      withLedger(async ledger => {
        const meters = [makeMeter('budget', 100), makeMeter('concurrency', 2), makeMeter('tokens', 100)]
        const hold = { tokens: 30, nanoUsd: 60 }
        await ledger.admit(toRequest('a', meters, { hold, leaseMs: 1000 }))
        await ledger.admit(toRequest('b', meters, { hold: { tokens: 1, nanoUsd: 1 }, leaseMs: 1000 }))
        expect(await ledger.sweep(T + 2000)).toBe(2)
        expect((await ledger.extend('a', hold, T + 2000, 1000)).isAdmitted).toBe(true)
        expect(await ledger.read(meters, T + 2000)).toMatchObject([
          { settled: 1, held: 60 },
          { settled: 0, held: 1 },
          { settled: 1, held: 30 },
        ])
        await ledger.release('a')
        await ledger.release('b')
        expect(await ledger.read(meters, T + 2000)).toMatchObject([
          { settled: 0, held: 0 },
          { settled: 0, held: 0 },
          { settled: 0, held: 0 },
        ])
      }))

    test('alerts once where settled spend reaches a threshold', () =>
      withLedger(async (ledger, crossings) => {
        const meters = [makeMeter('budget', 100, { alertAt: [50, 80] })]
        for (const [id, nanoUsd] of [
          ['a', 49],
          ['b', 1],
          ['c', 20],
          ['d', 30],
        ] as const) {
          await ledger.admit(toRequest(id, meters, { hold: { tokens: 0, nanoUsd } }))
          await ledger.settle(id, { ...SERVED, nanoUsd })
        }
        expect(crossings.map(({ threshold, settled }) => [threshold, settled])).toEqual([
          [50, 50],
          [80, 100],
        ])
      }))
  })

  const KINDS = ['rate', 'token_rate', 'requests', 'tokens', 'budget', 'concurrency'] as const
  const limits = fc.record(
    Object.fromEntries(KINDS.map(kind => [kind, fc.integer({ min: 0, max: 12 })])) as Record<
      (typeof KINDS)[number],
      fc.Arbitrary<number>
    >,
  )
  const makeMeters = (counts: Record<(typeof KINDS)[number], number>): Meter[] =>
    KINDS.map(kind => makeMeter(kind, counts[kind], { windowMs: 1000 }))

  const amounts = fc.record({ tokens: fc.nat(5), nanoUsd: fc.nat(5) })
  const step = fc.record({
    act: fc.constantFrom('admit', 'admit', 'extend', 'settle', 'release', 'wait'),
    which: fc.nat(10),
    meters: fc.subarray([0, 1, 2, 3, 4, 5]),
    amounts,
    requests: fc.constantFrom(0 as const, 1 as const),
    ms: fc.nat(700),
  })
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

  async function follow(ledger: Ledger, all: readonly Meter[], steps: readonly Step[]): Promise<void> {
    const model = new LedgerModel()
    const ids: string[] = []
    let at = T
    // Opened first: a counter that is opened later also counts requests that could not hold of it.
    await ledger.read(all, at)
    for (const { act, which, meters: chosen, amounts: hold, requests, ms } of steps) {
      const id = ids[which % Math.max(1, ids.length)] ?? 'none'
      if (act === 'wait') at += ms
      else if (act === 'settle') {
        await ledger.settle(id, { ...hold, requests, isSandbox: false })
        model.settle(id, { ...hold, requests, isSandbox: false })
      } else if (act === 'release') {
        await ledger.release(id)
        model.release(id)
      } else if (act === 'extend') {
        const verdict = await ledger.extend(id, hold, at, 60_000)
        expectSame(verdict, model.extend(id, hold, at))
      } else {
        const fresh = `r${ids.length}`
        const meters = chosen.map(index => all[index] as Meter)
        const verdict = await ledger.admit(toRequest(fresh, meters, { at, hold }))
        expectSame(verdict, model.admit(fresh, meters, hold, at))
        if (verdict.isAdmitted) ids.push(fresh)
      }
      const standings = (await ledger.read(all, at)) ?? []
      expect(standings.map(({ settled, held }) => ({ settled, held }))).toEqual(
        all.map(meter => model.standing(meter, at)),
      )
    }
  }
}

function expectSame(verdict: Awaited<ReturnType<Ledger['admit']>>, refusing: readonly string[]): void {
  expect(verdict.isAdmitted).toBe(refusing.length === 0)
  if (!verdict.isAdmitted && 'refused' in verdict) expect(refusing).toContain(verdict.refused.meter.key)
}
