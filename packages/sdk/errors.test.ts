import { describe, expect, test } from 'vitest'
import { FAULTS } from '../server/core/fault-table.ts'
import { isRideauError, parseRetryAfter, RideauError, readApiError, toStreamError } from './errors.ts'
import { ERROR_STATUSES } from './generated/error-codes.ts'

test('the codes and statuses are those of the fault table', () => {
  const statuses = Object.entries(FAULTS).map(([code, { status }]) => [code, status])
  expect(ERROR_STATUSES).toEqual(Object.fromEntries(statuses))
})

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 0)
  test.each<[string | null, string | null, number | null]>([
    [null, null, null],
    ['7', null, 7_000],
    [' 7 ', null, 7_000],
    ['0', null, 0],
    ['Thu, 01 Jan 2026 12:00:09 GMT', null, 9_000],
    ['Thu, 01 Jan 2026 11:59:00 GMT', null, 0],
    ['Thu, 01 Jan 2026 12:00:09 GMT', 'Thu, 01 Jan 2026 12:00:04 GMT', 5_000],
    ['Thu, 01 Jan 2026 12:00:09 GMT', 'nonsense', 9_000],
    ['-1', null, null],
    ['1.5', null, null],
    ['soon', null, null],
    ['', null, null],
    ['99999999999999999999', null, null],
  ])('%j sent at %j is %j ms', (value, date, ms) => {
    expect(parseRetryAfter(value, date, now)).toBe(ms)
  })
})

test('an envelope becomes an error with its fields', async () => {
  const body = {
    error: {
      code: 'quota_exceeded',
      message: 'Used up.',
      type: 'quota_error',
      param: 'model',
      request_id: 'r',
      doc_url: 'https://docs.example/errors#quota_exceeded',
      provider_message: 'theirs',
    },
  }
  const headers = { 'retry-after': '30', 'x-should-retry': 'false' }
  const error = await readApiError(new Response(JSON.stringify(body), { status: 429, headers }))
  expect(error).toBeInstanceOf(RideauError)
  expect(error).toMatchObject({
    message: 'Used up.',
    code: 'quota_exceeded',
    status: 429,
    type: 'quota_error',
    param: 'model',
    requestId: 'r',
    docUrl: 'https://docs.example/errors#quota_exceeded',
    providerMessage: 'theirs',
    retryAfterMs: 30_000,
    isFinal: true,
  })
  expect(isRideauError(error, 'budget_exceeded', 'quota_exceeded')).toBe(true)
  expect(isRideauError(error, 'budget_exceeded')).toBe(false)
  expect(isRideauError(error)).toBe(true)
  expect(isRideauError(new Error('other'))).toBe(false)
})

test.each(['<html>Bad gateway</html>', '', 'null', '[]', '{"error":"x"}', '{"error":{"code":1}}'])(
  'a body that is no envelope becomes unexpected_response: %j',
  async body => {
    const headers = { 'x-request-id': 'r' }
    const error = await readApiError(new Response(body, { status: 502, headers }))
    expect(error).toMatchObject({ code: 'unexpected_response', status: 502, requestId: 'r' })
  },
)

test('an error inside a stream has the status of its code, an unknown one 502', () => {
  expect(toStreamError('{"error":{"code":"timeout"}}', 'r')).toMatchObject({ status: 502, requestId: 'r' })
  expect(toStreamError('{"error":{"code":"end_user_blocked"}}', null).status).toBe(403)
  expect(toStreamError('{"error":{"code":"constructor"}}', null).status).toBe(502)
  expect(toStreamError('nonsense', null)).toMatchObject({ code: 'unexpected_response', status: 502 })
})
