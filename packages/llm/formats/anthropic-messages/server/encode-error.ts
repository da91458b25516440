import { type FaultType, type ServedFault, toProviderField } from '../../shared/errors/served-fault.ts'

/** Anthropic's error type for each type of fault. */
const TYPES: Readonly<Record<FaultType, string>> = {
  invalid_request_error: 'invalid_request_error',
  authentication_error: 'authentication_error',
  permission_error: 'permission_error',
  not_found_error: 'not_found_error',
  idempotency_error: 'invalid_request_error',
  budget_error: 'billing_error',
  rate_limit_error: 'rate_limit_error',
  quota_error: 'rate_limit_error',
  provider_error: 'api_error',
  internal_error: 'api_error',
}

/** Returns a failure under the Anthropic prefix in Anthropic's shape, with the gateway's code in it. */
export function toAnthropicError(fault: ServedFault, requestId: string, baseUrl: string): object {
  return {
    type: 'error',
    error: {
      type: toType(fault),
      message: toMessage(fault),
      ...toProviderField(fault),
      code: fault.code,
      param: fault.param ?? null,
      ...toDetails(fault),
      doc_url: `${baseUrl}/docs/errors#${fault.code}`,
    },
    request_id: requestId,
  }
}

/** The official client's tool runner asks for a thread by default, and goes on without one after these details. */
const NO_THREADS = { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } }

function toDetails({ code, param }: ServedFault): Partial<typeof NO_THREADS> {
  return code === 'invalid_request' && param === 'thread' ? NO_THREADS : {}
}

function toType({ code, type, status }: ServedFault): string {
  if (type === 'provider_error' && status === 503) return 'overloaded_error'
  return code === 'request_too_large' ? 'request_too_large' : TYPES[type]
}

/** Clients recognise a conversation that is too long by these words. */
function toMessage({ code, message }: ServedFault): string {
  return code === 'context_length_exceeded' ? `prompt is too long: ${message}` : message
}
