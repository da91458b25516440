import { type ServedFault, toProviderField } from '../../shared/errors/served-fault.ts'

/** Google's names of HTTP statuses. */
const STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** A failure under the Gemini prefix in Google's shape, with the gateway's code as the reason. */
export function toGoogleError(fault: ServedFault, requestId: string, baseUrl: string): { error: object } {
  const { code, status, param, retryAfterSeconds } = fault
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code,
    domain: 'rideau',
    metadata: {
      request_id: requestId,
      doc_url: `${baseUrl}/docs/errors#${code}`,
      ...(param === undefined ? {} : { param }),
    },
  }
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${retryAfterSeconds ?? 0}s`,
  }
  return {
    error: {
      code: status,
      message: toMessage(fault),
      ...toProviderField(fault),
      status: toStatus(fault),
      details: retryAfterSeconds === undefined ? [info] : [info, retry],
    },
  }
}

function toStatus({ code, status }: ServedFault): string {
  if (code === 'request_canceled') return 'CANCELLED'
  return STATUSES[status] ?? 'INVALID_ARGUMENT'
}

/** Returns the message of a fault. Clients recognize by one text that they must shorten the conversation. */
function toMessage({ code, message }: ServedFault): string {
  return code === 'context_length_exceeded'
    ? `The input token count exceeds the maximum number of tokens allowed: ${message}`
    : message
}
