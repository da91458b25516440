import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import { type FaultType, type ServedFault, toProviderField } from '../../shared/errors/served-fault.ts'

/** The AWS exception for each type of fault. */
const EXCEPTIONS: Readonly<Record<FaultType, string>> = {
  invalid_request_error: 'ValidationException',
  authentication_error: 'AccessDeniedException',
  permission_error: 'AccessDeniedException',
  not_found_error: 'ResourceNotFoundException',
  idempotency_error: 'ConflictException',
  budget_error: 'ServiceQuotaExceededException',
  rate_limit_error: 'ThrottlingException',
  quota_error: 'ServiceQuotaExceededException',
  provider_error: 'ModelErrorException',
  internal_error: 'InternalServerException',
}

/** Returns the name of the exception that AWS clients raise. */
function toExceptionName({ code, type, status }: ServedFault): string {
  if (code === 'timeout') return 'ModelTimeoutException'
  return type === 'provider_error' && status === 503 ? 'ServiceUnavailableException' : EXCEPTIONS[type]
}

/** The names of exceptions within a stream: there are fewer, and they begin in lower case. */
const IN_STREAMS: Readonly<Record<string, string>> = toTable({
  ThrottlingException: 'throttlingException',
  ServiceQuotaExceededException: 'throttlingException',
  ServiceUnavailableException: 'serviceUnavailableException',
  ModelErrorException: 'modelStreamErrorException',
  ModelTimeoutException: 'modelStreamErrorException',
  InternalServerException: 'internalServerException',
})

export function toStreamException(fault: ServedFault): string {
  return IN_STREAMS[toExceptionName(fault)] ?? 'validationException'
}

/** Returns a failure under the Bedrock prefix in AWS's shape, which has only a message, with the gateway's code added. */
export function toConverseError(fault: ServedFault, _requestId: string, baseUrl: string): JsonObject {
  const { code, message, param } = fault
  return {
    // Clients recognise a conversation that is too long by these words.
    message:
      code === 'context_length_exceeded' ? `Input is too long for requested model: ${message}` : message,
    ...toProviderField(fault),
    code,
    param: param ?? null,
    doc_url: `${baseUrl}/docs/errors#${code}`,
  }
}

/** Returns a failure within a stream. Clients keep only its message, so the message contains the gateway's code. */
export function toStreamError(fault: ServedFault, requestId: string, baseUrl: string): JsonObject {
  const error = toConverseError(fault, requestId, baseUrl)
  return { ...error, message: `${String(error.message)} (${fault.code})` }
}

/** Returns the header that names the exception. */
export function toErrorHeaders(fault: ServedFault): string[] {
  return ['x-amzn-errortype', toExceptionName(fault)]
}

/**
 * Returns the message for a caller that signs its requests; undefined: it does not. The gateway cannot verify a signature,
 * because only AWS has the secret.
 */
export function explainCredential(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^AWS4-/i.test(authorization)) return undefined
  return 'Requests signed with AWS credentials are not taken here. Send a secret key or client token as "Authorization: Bearer …"; AWS clients do so where AWS_BEARER_TOKEN_BEDROCK holds it.'
}
