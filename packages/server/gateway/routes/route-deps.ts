import type { Feedback } from '../../core/request-record.ts'
import type { PipelineDeps } from '../pipeline/pipeline-deps.ts'

/** What the routes besides model calls need of the process. */
export interface RouteDeps extends PipelineDeps {
  /** Stops a request that runs in another gateway process; false where none does. */
  readonly cancelElsewhere: (
    environmentId: string,
    requestId: string,
    endUserId: string | null,
  ) => Promise<boolean>
  /** Keeps it with the request's record; false where there is none that the caller may speak of. */
  readonly storeFeedback: (
    of: { readonly environmentId: string; readonly requestId: string; readonly endUserId: string | null },
    feedback: Feedback,
  ) => Promise<boolean>
}
