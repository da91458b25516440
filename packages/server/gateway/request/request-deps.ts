import type { SeenEndUsers } from '../tenants/seen-end-users.ts'
import type { Snapshots } from '../tenants/snapshots.ts'
import type { RunningRequests } from './running-requests.ts'

/** What reading a request and naming its end user need of the process. */
export interface RequestDeps {
  readonly snapshots: Snapshots
  readonly seenEndUsers: SeenEndUsers
  readonly runningRequests: RunningRequests
  /**
   * Returns whether the environment has a request with this id, in the log or in a process of this machine, and claims it if not. Called once,
   * and only for ids chosen by callers.
   */
  readonly isRequestIdTaken: (environmentId: string, requestId: string) => Promise<boolean>
  /** A body that has not arrived after this many milliseconds ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
}
