import type { Feedback } from '../../core/records/request-record.ts'
import type { FanOutRates } from '../edge/fan-out-rates.ts'
import type { MintDeps } from '../mint/mint-deps.ts'
import type { PipelineDeps } from '../pipeline/pipeline-deps.ts'

/** What the routes other than model calls need of the process. */
export interface RouteDeps extends PipelineDeps, MintDeps {
  /** Stops a request of another gateway process. Resolves to false if no process has it. */
  readonly cancelElsewhere: (
    environmentId: string,
    requestId: string,
    endUserId: string | null,
  ) => Promise<boolean>
  readonly fanOutRates: FanOutRates
  /**
   * Stores feedback with the request's record. Resolves to false if the caller has no such request. `beforeFlush` is called before all
   * workers write their records for it, and may throw.
   */
  readonly storeFeedback: (
    of: {
      readonly orgId: string
      readonly environmentId: string
      readonly requestId: string
      readonly endUserId: string | null
    },
    feedback: Feedback,
    beforeFlush: () => void,
  ) => Promise<boolean>
}
