/** The hidden argument by which the program runs as a gateway worker. Its name follows. */
export const WORKER_ROLE = 'gateway-worker'

/** What a worker needs to know besides the settings, which are in its environment. */
export interface WorkerStart {
  readonly type: 'start'
  readonly worker: string
  /** Path of the supervisor's socket. */
  readonly socketPath: string
  /** How the database is reached. */
  readonly connection: unknown
  readonly gatewayUrl: string
  readonly baseUrl: string
}

/** From the supervisor to a worker, over the process's own channel. */
export type ToWorker =
  | WorkerStart
  /** Comes with the handle of the port, on which the worker accepts from now on. */
  | { readonly type: 'listen' }
  /** Accept no more, let running requests end, write all records, then exit. `isReplaced`: other workers serve the port. */
  | { readonly type: 'stop'; readonly isReplaced: boolean }
  /** The time for running requests is over. */
  | { readonly type: 'cut' }

/** What became of the requests that ran when a worker was told to stop. */
export interface WorkerCounts {
  readonly finished: number
  readonly cut: number
}

/** From a worker to its supervisor. */
export type FromWorker =
  /** Everything is open but the port. */
  | { readonly type: 'prepared' }
  | { readonly type: 'listening' }
  /** The worker could not start, and exits. */
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
  /** No request runs any more. */
  | { readonly type: 'finished'; readonly counts: WorkerCounts }
  /** All records are in the database or in its journal. It exits. */
  | { readonly type: 'stopped'; readonly metrics: unknown }
