import type { SeenEndUsers } from '../tenants/seen-end-users.ts'
import type { Snapshots } from '../tenants/snapshots.ts'
import type { InFlight } from './in-flight.ts'

/** What reading a request and naming its end user need of the process. */
export interface RequestDeps {
  readonly snapshots: Snapshots
  readonly seenEndUsers: SeenEndUsers
  readonly inFlight: InFlight
  /** Whether the environment has logged a request with this id. Called only for ids chosen by callers. */
  readonly isRequestLogged: (environmentId: string, requestId: string) => Promise<boolean>
  /** A body that has not arrived after this many milliseconds ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
}
