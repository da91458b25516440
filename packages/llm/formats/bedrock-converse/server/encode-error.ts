import type { JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { FaultType, ServedFault } from '../../shared/served-fault.ts'

/** Our types as AWS's exceptions. */
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

/** The exception as which AWS's clients raise a failure. */
function toExceptionName({ code, type, status }: ServedFault): string {
  if (code === 'timeout') return 'ModelTimeoutException'
  return type === 'provider_error' && status === 503 ? 'ServiceUnavailableException' : EXCEPTIONS[type]
}

/** Those that a stream can end with are fewer, and begin in lower case. */
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

/** What every failure under the Bedrock prefix looks like: AWS's shape, which is words only, with our code beside. */
export function toConverseError(fault: ServedFault, _requestId: string, baseUrl: string): JsonObject {
  const { code, message, param } = fault
  return {
    // Clients know by these words that they have to shorten the conversation.
    message:
      code === 'context_length_exceeded' ? `Input is too long for requested model: ${message}` : message,
    code,
    param: param ?? null,
    doc_url: `${baseUrl}/docs/errors#${code}`,
  }
}

/** The same within a stream, where clients keep nothing but the words: so our code is among them. */
export function toStreamError(fault: ServedFault, requestId: string, baseUrl: string): JsonObject {
  const error = toConverseError(fault, requestId, baseUrl)
  return { ...error, message: `${String(error.message)} (${fault.code})` }
}

/** The header that names the exception. */
export function toErrorHeaders(fault: ServedFault): string[] {
  return ['x-amzn-errortype', toExceptionName(fault)]
}

/** What a caller is told that signs its requests: a signature is made with a secret that nobody but AWS has. */
export function explainCredential(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^AWS4-/i.test(authorization)) return undefined
  return 'Requests signed with AWS credentials are not taken here. Send a secret key or client token as "Authorization: Bearer …"; AWS clients do so where AWS_BEARER_TOKEN_BEDROCK holds it.'
}
