import type { UpstreamError } from '@rideau/llm/spec'

/** How one try ended. */
export type AttemptResult<T> =
  | { readonly ok: true; readonly status: number; readonly value: T }
  | { readonly ok: false; readonly error: UpstreamError }
