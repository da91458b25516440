import type { ServedFault } from './served-fault.ts'

/** The body of every failure of the control plane, of the native format and of OpenAI's: a superset of OpenAI's errors. */
export interface ErrorEnvelope {
  readonly error: {
    readonly type: string
    readonly code: string
    readonly message: string
    readonly param: string | null
    readonly request_id: string
    readonly doc_url: string
  }
}

export function toEnvelope(fault: ServedFault, requestId: string, baseUrl: string): ErrorEnvelope {
  return {
    error: {
      type: fault.type,
      code: fault.code,
      message: fault.message,
      param: fault.param ?? null,
      request_id: requestId,
      doc_url: `${baseUrl}/docs/errors#${fault.code}`,
    },
  }
}
