import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Charge } from '../billing/bill.ts'

/** How one try ended. */
export type AttemptResult<T> =
  | { readonly ok: true; readonly status: number; readonly value: T }
  | {
      readonly ok: false
      readonly error: UpstreamError
      /** Why its provider may charge for the try all the same; absent: it told of an error, or was never reached. */
      readonly charge?: Charge | undefined
      /** What is billed for that: whoever knows the request prices it. */
      readonly bill?: Bill | undefined
    }
