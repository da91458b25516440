import type { Snapshots } from '../tenants/snapshots.ts'
import type { InFlight } from './in-flight.ts'

/** What reading a request and naming its end user need of the process. */
export interface RequestDeps {
  readonly snapshots: Snapshots
  readonly inFlight: InFlight
  /** Was a request of this id logged in the environment? Asked only where a caller brings its own id. */
  readonly isRequestLogged: (environmentId: string, requestId: string) => Promise<boolean>
  /** A body that has not arrived after so many milliseconds ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
}
