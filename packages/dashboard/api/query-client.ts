import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut, toApiError } from './api-error.ts'

const MAX_RETRIES = 2
/** If the server asks for a longer wait, the error is shown instead. */
const MAX_WAIT_MS = 10_000

/** Creates the cache of answers. `onSignedOut` is called when a call finds that the session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (isSignedOut(error)) onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: shouldRetry,
        retryDelay: (count, error) => toApiError(error).retryAfterMs ?? 400 * 2 ** count,
      },
      mutations: { retry: false },
    },
  })
}

/** Repeats only calls that may succeed the next time: without an answer, after a fault of the server, or after a short wait at a limit. */
function shouldRetry(count: number, thrown: unknown): boolean {
  const { status, retryAfterMs } = toApiError(thrown)
  if (status === 429) return count < 1 && (retryAfterMs ?? 0) <= MAX_WAIT_MS
  return (status === 0 || status >= 500) && count < MAX_RETRIES
}
