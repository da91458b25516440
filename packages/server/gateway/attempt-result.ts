import type { UpstreamError } from '@rideau/llm/spec'

/** How one try ended. */
export type AttemptResult<T> =
  | { readonly ok: true; readonly status: number; readonly value: T }
  | {
      readonly ok: false
      readonly error: UpstreamError
      /** The request had left for the provider, which told of no error: it may charge for what it read. */
      readonly isUnanswered?: boolean
    }
