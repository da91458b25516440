import type { Server } from 'node:http'
import type { RunningRequests } from '../../gateway/request/running-requests.ts'
import type { Readiness } from '../../http/metrics/readiness.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { StopCounts } from '../process/close-server.ts'

/** The gateway of this process, or of its workers. */
export interface Gateway {
  /** Starts to accept connections, and returns the URL. */
  listen(): Promise<string>
  readonly metricsUrl: string | undefined
  /** Resolves once every change committed so far applies in this process. */
  catchUp(): Promise<void>
  getReadiness(): Readiness
  readonly readMeters: Ledger['read']
  /** Gives running requests time to end, then stops them and closes their connections. */
  close(): Promise<StopCounts>
  /** See App; absent: it runs in this process. */
  readonly replaceWorkers?: () => Promise<void>
}

/** The gateway within this process, which does not listen yet. */
export interface LocalGateway extends Gateway {
  readonly server: Server
  readonly runningRequests: RunningRequests
  /** Returns what a worker has measured, as JSON. */
  readMetrics(): Promise<unknown>
}
