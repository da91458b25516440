import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { EgressError } from '../../http/egress/egress.ts'

/** Returns what a call that failed below HTTP tells of its provider. */
export function toNetworkError(error: Error & { code?: string }): UpstreamError {
  if (error instanceof EgressError || error.cause instanceof EgressError) {
    return { kind: 'unavailable', detail: `egress refused: ${error.message}` }
  }
  const timedOut = error.code === 'UND_ERR_CONNECT_TIMEOUT'
  return {
    kind: timedOut ? 'timeout' : 'unavailable',
    detail: `${error.code ?? error.name}: ${error.message}`,
  }
}
