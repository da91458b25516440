import type { JsonObject } from '../../../json/json-value.ts'
import { type ServedFault, toProviderField } from '../../shared/errors/served-fault.ts'

/** Returns a failure under the Cohere prefix in Cohere's shape, an id and a message, with the gateway's code beside them. */
export function toCohereError(fault: ServedFault, requestId: string, baseUrl: string): JsonObject {
  const { code, message, param } = fault
  const isTooLong = code === 'context_length_exceeded'
  return {
    id: requestId,
    // Clients know by these words that they have to shorten the conversation.
    message: isTooLong ? `too many tokens: ${message}` : message,
    ...(isTooLong ? { error_type: 'TOO_MANY_TOKENS' } : {}),
    ...toProviderField(fault),
    code,
    param: param ?? null,
    doc_url: `${baseUrl}/docs/errors#${code}`,
  }
}
