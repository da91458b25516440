import { type ServedFault, toProviderField } from '../../shared/errors/served-fault.ts'

/** The body of every failure under the Ollama prefix: Ollama's one field, `error`, and those of the gateway. */
export function toOllamaError(fault: ServedFault, requestId: string, baseUrl: string): object {
  return {
    error: fault.message,
    ...toProviderField(fault),
    code: fault.code,
    param: fault.param ?? null,
    request_id: requestId,
    doc_url: `${baseUrl}/docs/errors#${fault.code}`,
  }
}
