import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'

/** As OpenAI, Azure, xAI and vLLM name what they do not store. */
const NAMES_STATE =
  /\b(?:response|conversation|item|file|container)s?\b.{0,200}(?:not found|not exist)|no such (?:response|conversation|item|file)|previous_response_not_found/i

/**
 * Returns whether a provider refused a request because the credential's account does not store what the request refers to. Only
 * of requests that refer to something: a 404 has other causes too.
 */
export function isMissingState({ kind, status, detail }: UpstreamError): boolean {
  if (kind !== 'bad_request') return false
  return status === 404 || NAMES_STATE.test(detail)
}
