import type { FaultType, ServedFault } from '../../shared/served-fault.ts'

/** Our types in Anthropic's words (contract.md §2). */
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

/** What every failure under the Anthropic prefix looks like: their shape, with our code in it. */
export function toAnthropicError(fault: ServedFault, requestId: string, baseUrl: string): object {
  return {
    type: 'error',
    error: {
      type: findType(fault),
      message: findMessage(fault),
      code: fault.code,
      param: fault.param ?? null,
      doc_url: `${baseUrl}/docs/errors#${fault.code}`,
    },
    request_id: requestId,
  }
}

function findType({ code, type, status }: ServedFault): string {
  if (type === 'provider_error' && status === 503) return 'overloaded_error'
  return code === 'request_too_large' ? 'request_too_large' : TYPES[type]
}

/** Clients know by these words that they have to shorten the conversation. */
function findMessage({ code, message }: ServedFault): string {
  return code === 'context_length_exceeded' ? `prompt is too long: ${message}` : message
}
