import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Ledger } from '../../ledger/ledger.ts'
import { CALLER, T } from '../../ledger/testing/make-meter.ts'
import { Reservations } from './reservations.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each([
  ['set back by a day', -86_400_000],
  ['set forward by a day', 86_400_000],
])('a lease of a minute is renewed every twenty seconds, also if the clock is %s', (_, shiftMs) => {
  const renewals: number[] = []
  const verdict = { isAdmitted: true, statuses: [] } as const
  const ledger = {
    reserve: () => verdict,
    extend: (_id, _amounts, at) => {
      renewals.push(at)
      return verdict
    },
    expire: () => 0,
  } as Pick<Ledger, 'reserve' | 'extend' | 'expire'> as Ledger
  let now = T
  const reservations = new Reservations({ ledger, now: () => now })
  reservations.open('id', T, CALLER, [], { tokens: 0, nanoUsd: 0 })
  now += shiftMs
  vi.advanceTimersByTime(60_000)
  reservations.close()
  expect(renewals).toEqual([now, now, now])
})
