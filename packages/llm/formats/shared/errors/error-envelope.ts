import { type ServedFault, toProviderField } from './served-fault.ts'

/** The body of every failure of the control plane, of the native format and of OpenAI's: a superset of OpenAI's errors. */
export interface ErrorEnvelope {
  readonly error: {
    readonly type: string
    readonly code: string
    readonly message: string
    /** What the provider itself said of the request; absent: nothing, or nothing for this caller. */
    readonly provider_message?: string
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
      ...toProviderField(fault),
      param: fault.param ?? null,
      request_id: requestId,
      doc_url: `${baseUrl}/docs/errors#${fault.code}`,
    },
  }
}

/** With a longer wait, clients of OpenAI's format sleep instead of showing the error, unless its type ends their retries. */
const MAX_WAIT_SECONDS = 60

/** Returns the error envelope of OpenAI's format. A 429 that no short wait helps against has the type at which its clients stop. */
export function toOpenAiEnvelope(fault: ServedFault, requestId: string, baseUrl: string): ErrorEnvelope {
  const envelope = toEnvelope(fault, requestId, baseUrl)
  if (!isFarOff(fault)) return envelope
  return { error: { ...envelope.error, type: 'insufficient_quota' } }
}

/** True for a 429 whose limit is reset in more than a minute. */
export function isFarOff({ status, retryAfterSeconds = 0 }: ServedFault): boolean {
  return status === 429 && retryAfterSeconds > MAX_WAIT_SECONDS
}
