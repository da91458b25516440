import { expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { FAULTS, type FaultCode } from '../../core/fault-table.ts'
import { faultHeaders } from './envelope.ts'

const CODES = Object.entries(FAULTS).map(([code, { status }]) => [code as FaultCode, status] as const)

const finalOf = (code: FaultCode, retryAfterSeconds: number): string | undefined =>
  faultHeaders(new Fault(code, 'm', { retryAfterSeconds }))['x-should-retry']

test.each(CODES)('%s (%i) has x-should-retry: false where the contract says so', (code, status) => {
  const isFinal = status < 500 && status !== 408 && status !== 429
  const expected = isFinal || code === 'provider_auth_failed' ? 'false' : undefined
  expect([finalOf(code, 1), finalOf(code, 60)]).toEqual([expected, expected])
  const mayWait = status === 429 || status === 503
  expect(finalOf(code, 61)).toBe(mayWait ? 'false' : expected)
})
