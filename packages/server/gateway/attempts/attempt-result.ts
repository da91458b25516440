import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Charge } from '../billing/bill.ts'

/** The result of one attempt. */
export type AttemptResult<T> =
  | {
      readonly ok: true
      readonly status: number
      readonly value: T
      /** The model that the provider says has answered, for traces. Absent: it names none. */
      readonly model?: string | undefined
    }
  | {
      readonly ok: false
      readonly error: UpstreamError
      /** Why the provider may charge for the failed attempt. Absent: it reported an error and counted nothing, or was never reached. */
      readonly charge?: Charge | undefined
      /**
       * The bill of a failed attempt that the provider may charge. The caller of the attempt knows the request and
       * prices it.
       */
      readonly bill?: Bill | undefined
      /** The next attempt leaves out what the provider refused: the same target is called again, as one attempt with this one. */
      readonly isAdjusted?: true
    }
