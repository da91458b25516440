import { expect, test } from 'vitest'
import { CALLER, makeMeter, T, toUsage } from '../testing/make-meter.ts'
import { createRow } from './counter-row.ts'
import { addShare, type ProcessReservation, releaseShares, settleShare } from './process-reservation.ts'
import type { RollingCounter } from './rolling-counter.ts'

const MONTH_MS = 31 * 86_400_000

test.each<[string, (reservation: ProcessReservation) => void]>([
  ['released', releaseShares],
  ['settled', each => each.shares.forEach(share => settleShare(share, each, toUsage()))],
])('the entries of %s requests are merged like any others', (_, end) => {
  const meter = makeMeter('rate', 1_000_000, { windowMs: MONTH_MS })
  const row = createRow(meter, 1, true)
  const counter = row.counter as RollingCounter
  counter.keepAtMost(1024)
  const amounts = { tokens: 0, nanoUsd: 0 }
  for (let index = 0; index < 100_000; index++) {
    const at = T + index
    const shares = [addShare(meter, row, amounts, at)]
    const times = { arrivedAt: at, at, leaseEnd: at }
    end({ owner: '', subject: CALLER, ...times, shares, sequence: 1, amounts, isExpired: false })
  }
  expect(counter.reserved).toBe(0)
  expect(counter.entryCount).toBeLessThanOrEqual(2 * 1024 + 1)
})
