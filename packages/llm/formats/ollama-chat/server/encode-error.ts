import type { ServedFault } from '../../shared/served-fault.ts'

/** What every failure under the Ollama prefix looks like: their one field, with ours beside it. */
export function toOllamaError(fault: ServedFault, requestId: string, baseUrl: string): object {
  return {
    error: fault.message,
    code: fault.code,
    param: fault.param ?? null,
    request_id: requestId,
    doc_url: `${baseUrl}/docs/errors#${fault.code}`,
  }
}
