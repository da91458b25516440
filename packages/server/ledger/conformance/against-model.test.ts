import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import type { Ledger, Verdict } from '../ledger.ts'
import { countsRequest } from '../rules/counts-request.ts'
import { describeOnEachLedger } from '../testing/describe-on-each-ledger.ts'
import { LedgerModel, type ModelRefusal } from '../testing/ledger-model.ts'
import { CALLER, type MeterKind, type MeterSettings, makeMeter, T, toRequest } from '../testing/make-meter.ts'

const LEASE_MS = 1500

const amounts = fc.record({ tokens: fc.nat(5), nanoUsd: fc.nat(5) })
const step = fc.record({
  action: fc.constantFrom('reserve', 'reserve', 'extend', 'settle', 'release', 'wait'),
  which: fc.nat(10),
  key: fc.constantFrom('k0', 'k1'),
  user: fc.constantFrom('u0', 'u1'),
  amounts,
  requests: fc.constantFrom(0 as const, 1 as const),
  isSandbox: fc.boolean(),
  ms: fc.nat(700),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Every kind of meter, for the whole organization, for each key or for each end user. */
const METERS: readonly [MeterKind, MeterSettings][] = [
  ['rate', { windowMs: 1000 }],
  ['requests', { end: T + 1_000_000 }],
  ['budget', { subject: { excludesSandbox: true } }],
  ['token_rate', { key: 'k0 rate', windowMs: 900, subject: { keyId: 'k0' } }],
  ['token_rate', { key: 'k1 rate', windowMs: 1100, subject: { keyId: 'k1' } }],
  ['budget', { key: 'k1 budget', subject: { keyId: 'k1' } }],
  ['tokens', { key: 'u0 tokens', end: T + 900_000, subject: { endUserId: 'u0' } }],
  ['concurrency', { key: 'u0 slots', subject: { endUserId: 'u0' } }],
  ['concurrency', { key: 'u1 slots', subject: { endUserId: 'u1' } }],
]
const limits = fc.array(fc.integer({ min: 0, max: 12 }), {
  minLength: METERS.length,
  maxLength: METERS.length,
})

describeOnEachLedger('every sequence of operations', withLedger => {
  test('has the verdicts, refusals and statuses of a model that adds up all requests each time', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (counts, steps) =>
        withLedger(ledger => {
          const meters = METERS.map(([kind, settings], index) =>
            makeMeter(kind, counts[index] ?? 0, settings),
          )
          return follow(ledger, meters, steps)
        }),
      ),
      { numRuns: 60 },
    )
  }, 120_000)
})

async function follow(ledger: Ledger, meters: readonly Meter[], steps: readonly Step[]): Promise<void> {
  const model = new LedgerModel()
  const ids: string[] = []
  let at = T
  for (const { action, which, key, user, amounts: wanted, requests, isSandbox, ms } of steps) {
    const id = ids[which % Math.max(1, ids.length)] ?? 'unknown'
    if (action === 'wait') {
      at += ms
      await ledger.expire(at)
      model.expire(at)
    } else if (action === 'settle') {
      await ledger.settle(id, { ...wanted, requests, isSandbox })
      model.settle(id, { ...wanted, requests, isSandbox })
    } else if (action === 'release') {
      await ledger.release(id)
      model.release(id)
    } else if (action === 'extend') {
      const verdict = await ledger.extend(id, wanted, at, LEASE_MS)
      const refusals = model.extend(id, wanted, at, LEASE_MS)
      if (refusals === undefined) expect(verdict).toHaveProperty('unavailable')
      else expectSame(verdict, refusals)
    } else {
      const fresh = `r${ids.length}`
      const subject = { ...CALLER, keyId: key, endUserId: user }
      const own = meters.filter(meter => countsRequest(meter, subject, at))
      const request = toRequest(fresh, own, { at, subject, amounts: wanted, leaseMs: LEASE_MS })
      const verdict = await ledger.reserve(request)
      expectSame(verdict, model.reserve(fresh, own, wanted, at, LEASE_MS))
      if (verdict.isAdmitted) ids.push(fresh)
    }
    const statuses = (await ledger.read(meters, at)) ?? []
    expect(statuses).toEqual(meters.map(meter => ({ meter, ...model.status(meter, at) })))
  }
}

/** The refusal must be the model's for that meter, and no other meter may have a longer wait. */
function expectSame(verdict: Verdict, refusals: readonly ModelRefusal[]): void {
  expect(verdict.isAdmitted).toBe(refusals.length === 0)
  if (verdict.isAdmitted || !('refusal' in verdict)) return
  const { meter, ...refusal } = verdict.refusal
  expect(refusals).toContainEqual({ key: meter.key, ...refusal })
  const waitOf = (key: string, retryAt: number | null): number =>
    key.endsWith('slots') ? 0 : (retryAt ?? Number.POSITIVE_INFINITY)
  const waits = refusals.map(({ key, retryAt }) => waitOf(key, retryAt))
  expect(waitOf(meter.key, refusal.retryAt)).toBe(Math.max(...waits))
}
