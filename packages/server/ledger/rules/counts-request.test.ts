import { describe, expect, test } from 'vitest'
import type { MeterSubject } from '../../core/limits/meter.ts'
import { COUNTED_REQUESTS } from '../testing/counted-requests.ts'
import { CALLER, makeMeter, T } from '../testing/make-meter.ts'
import { countsRequest } from './counts-request.ts'

describe('a meter counts a request', () => {
  test.each(COUNTED_REQUESTS)('$name: $isCounted', ({ isCounted, subject, window, at }) => {
    const meter = makeMeter('budget', 1, { subject, ...window })
    expect(countsRequest(meter, CALLER, at)).toBe(isCounted)
  })

  test('never of another organization', () => {
    expect(countsRequest(makeMeter('rate', 1, { subject: { orgId: 'other' } }), CALLER, T)).toBe(false)
  })

  test('without an end user only if it names none', () => {
    const nobody: MeterSubject = { ...CALLER, endUserId: null }
    expect(countsRequest(makeMeter('rate', 1), nobody, T)).toBe(true)
    expect(countsRequest(makeMeter('rate', 1, { subject: { endUserId: 'user' } }), nobody, T)).toBe(false)
  })
})
