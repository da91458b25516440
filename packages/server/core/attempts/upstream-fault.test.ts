import type { UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import { expect, test } from 'vitest'
import { toUpstreamFault } from './upstream-fault.ts'

test.each<[UpstreamErrorKind, number | undefined, string]>([
  ['timeout', 408, 'provider_rejected'],
  ['unavailable', 409, 'provider_rejected'],
  ['unavailable', 425, 'provider_rejected'],
  ['unavailable', 400, 'provider_rejected'],
  ['quota', 402, 'provider_rejected'],
  ['quota', 403, 'provider_auth_failed'],
  ['quota', 429, 'provider_overloaded'],
  ['quota', undefined, 'provider_overloaded'],
  ['quota', 500, 'provider_unavailable'],
  ['quota', 502, 'provider_unavailable'],
  ['quota', 529, 'provider_overloaded'],
  ['timeout', undefined, 'timeout'],
  ['timeout', 504, 'timeout'],
  ['unavailable', undefined, 'provider_unavailable'],
  ['unavailable', 503, 'provider_unavailable'],
])('%s with the status %s is %s in the end', (kind, status, code) => {
  const error = { kind, detail: 'd', message: 'The deployment is in conflict.' }
  const fault = toUpstreamFault(status === undefined ? error : { ...error, status }, {
    kind: 'secret',
    keyId: 'k',
  })
  expect(fault.code).toBe(code)
  expect(fault.providerMessage).toBe(
    code === 'provider_rejected' && kind !== 'quota' ? 'The deployment is in conflict.' : undefined,
  )
})
