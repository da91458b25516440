import type { UpstreamError, UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'
import { Fault } from '../fault.ts'
import type { FaultCode } from '../fault-table.ts'
import type { Caller } from '../tenancy/tenancy.ts'
import { maySeeProviderMessage, toProviderMessage } from './provider-message.ts'

/** The wait in seconds if the provider names none. */
const DEFAULT_RETRY_SECONDS = 5

const CODES: Readonly<Record<UpstreamErrorKind, FaultCode>> = {
  rate_limited: 'provider_overloaded',
  overloaded: 'provider_overloaded',
  quota: 'provider_overloaded',
  auth: 'provider_auth_failed',
  context_length: 'context_length_exceeded',
  content_filter: 'content_filtered',
  model_not_found: 'model_not_found',
  bad_request: 'provider_rejected',
  unavailable: 'provider_unavailable',
  timeout: 'timeout',
  interrupted: 'stream_interrupted',
}

const MESSAGES: Readonly<Record<UpstreamErrorKind, string>> = {
  rate_limited: 'The provider limits the rate of requests right now.',
  overloaded: 'The provider is overloaded.',
  quota: "The provider account's own quota or credit is used up.",
  auth: 'The provider refused the credential that this environment holds for it.',
  context_length: 'The request has more input than the model takes.',
  content_filter: "The provider's content policy refused the request.",
  model_not_found: 'The provider does not know this model.',
  bad_request: 'The provider refused the request as invalid.',
  unavailable: 'The provider could not be reached or failed.',
  timeout: 'The provider did not answer in time.',
  interrupted: "The provider's answer ended early.",
}

/**
 * Returns the fault for the last error after retries and fallback. The provider's own words stay in its private cause, but
 * for its message of a refused request, which `caller` gets if it may.
 */
export function toUpstreamFault(error: UpstreamError, caller?: Pick<Caller, 'kind' | 'keyId'>): Fault {
  const kind = settledKind(error)
  const code = kind === 'quota' ? toQuotaCode(error.status) : CODES[kind]
  const waits = code === 'provider_overloaded' || code === 'provider_unavailable'
  return new Fault(code, MESSAGES[kind], {
    cause: error,
    providerMessage:
      caller !== undefined && maySeeProviderMessage(caller)
        ? toProviderMessage({ ...error, kind })
        : undefined,
    ...(kind === 'model_not_found' ? { param: 'model' } : {}),
    ...(waits ? { retryAfterSeconds: retryAfterSeconds(error) } : {}),
  })
}

/** Credit that is used up comes under several statuses, each of which keeps the code of its status. In a stream it has none. */
function toQuotaCode(status: number | undefined): FaultCode {
  if (status === undefined || status === 429 || status === 529) return 'provider_overloaded'
  if (status >= 500) return 'provider_unavailable'
  return status === 403 ? 'provider_auth_failed' : 'provider_rejected'
}

/**
 * Returns the kind of an error that no further attempt follows. 408, 409, 425 and a call that the model itself made wrong are
 * worth another attempt, but they are of the 4xx: what is left of them is a refusal of the request.
 */
function settledKind({ kind, status = 0 }: UpstreamError): UpstreamErrorKind {
  const isTransient = kind === 'unavailable' || kind === 'timeout'
  return isTransient && status >= 400 && status < 500 ? 'bad_request' : kind
}

function retryAfterSeconds(error: UpstreamError): number {
  return error.retryAfterMs === undefined ? DEFAULT_RETRY_SECONDS : error.retryAfterMs / 1000
}
