import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import type { Connections } from './connections.ts'
import type { PacedAborts } from './paced-aborts.ts'

/** What all calls of a transport share. */
export interface TransportState {
  readonly connections: Connections
  readonly opening: ConnectionOpening
  readonly aborts: PacedAborts
}

/** For whom a connection is being opened. undici opens one within `dispatch`, so one place for all calls is enough. */
export interface ConnectionOpening {
  owner: ShareOwner | undefined
}
