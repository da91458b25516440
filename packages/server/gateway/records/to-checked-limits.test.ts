import { expect, test } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import type { MeterStatus } from '../../ledger/ledger.ts'
import { toCheckedLimits } from './to-checked-limits.ts'

const AMOUNTS = { tokens: 10, nanoUsd: 500 }

/** What is reserved on the meter includes the request's own amount. */
function statusOf(id: string, change: Partial<Meter> = {}, settled = 0, reserved = 10): MeterStatus {
  const source = { kind: 'limit', id, scope: 'key', ref: 'k' } as Meter['source']
  const meter = { key: id, metric: 'tokens', limit: 100, nominalLimit: 100, source, ...change } as Meter
  return { meter, settled, reserved, resetAt: null }
}

const reservationOf = (meterStatuses: readonly MeterStatus[]) => ({
  amounts: AMOUNTS,
  meterStatuses,
  refusal: undefined,
})

test('nothing is known of a request without a reservation or a refusal, or without limits', () => {
  expect(toCheckedLimits(undefined, undefined)).toBeNull()
  expect(toCheckedLimits(reservationOf([]), undefined)).toBeNull()
})

test('the smallest remaining share comes first, and at most twelve are kept', () => {
  const statuses = Array.from({ length: 14 }, (_, at) => statusOf(`m${at}`, {}, at))
  const listed = toCheckedLimits(reservationOf(statuses), undefined)
  expect(listed?.map(({ id, remaining }) => [id, remaining])).toEqual(
    Array.from({ length: 12 }, (_, at) => [`m${13 - at}`, 90 - (13 - at)]),
  )
  expect(listed?.every(limit => !('refused' in limit))).toBe(true)
})

test('the limit that refused a request is kept with what it refused, and nothing is reserved', () => {
  const refusal = { ...statusOf('m', { metric: 'nano_usd' }, 70, 20), wanted: 500, retryAt: null }
  expect(toCheckedLimits(undefined, refusal)).toEqual([
    {
      ...{ kind: 'limit', id: 'm', scope: 'key', metric: 'nano_usd', limit: 100 },
      ...{ reserved: 0, remaining: 10, refused: 500 },
    },
  ])
})

test('the limit that refused more output is the first of many, whatever it has left', () => {
  const statuses = Array.from({ length: 14 }, (_, at) => statusOf(`m${at}`, {}, at))
  const refusal = { ...(statuses[0] as MeterStatus), wanted: 1_000, retryAt: null }
  const listed = toCheckedLimits({ ...reservationOf(statuses), refusal }, undefined)
  expect(listed).toHaveLength(12)
  expect(listed?.[0]).toMatchObject({ id: 'm0', reserved: 10, remaining: 90, refused: 1_000 })
})
