import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LAST_START_MS, MAX_ATTEMPT_MS } from '../../core/attempts/retry.ts'
import { Fault } from '../../core/fault.ts'
import type { RunningRequests } from '../../gateway/request/running-requests.ts'

/** What became of the requests that ran when a gateway was told to stop. */
export interface StopCounts {
  readonly finished: number
  /** Ended by the gateway before their answer was complete. */
  readonly cut: number
}

export interface ClosingOptions {
  /** How long running requests may take. */
  readonly graceMs: number
  /** Aborted: the grace ends now. */
  readonly cut: AbortSignal
}

const POLL_MS = 20
/** How long requests that are cut may take to send their last bytes and to write their records. */
const CUT_MS = 1_000

/**
 * Stops listening and waits for running requests. Those that run when the grace ends are stopped: they leave a record, and
 * their callers get `stream_interrupted`, in a stream as its last frame. Then all connections are closed.
 */
export async function closeGateway(
  server: Server,
  runningRequests: RunningRequests,
  { graceMs, cut }: ClosingOptions,
): Promise<StopCounts> {
  const endedBefore = runningRequests.ended
  let isClosed = false
  server.close(() => {
    isClosed = true
  })
  const isDone = (): boolean => {
    server.closeIdleConnections()
    return isClosed && runningRequests.size === 0
  }
  const isGraceful = await waitUntil(isDone, graceMs, cut)
  const finished = runningRequests.ended - endedBefore
  if (isGraceful) return { finished, cut: 0 }
  const count = runningRequests.stopAll(
    new Fault('stream_interrupted', 'The gateway stopped before the answer was complete.'),
  )
  await waitUntil(isDone, CUT_MS)
  server.closeAllConnections()
  return { finished, cut: count }
}

/** Longer than idle connections are kept (gateway/server.ts), which callers know: closed before, one could have a request on its way. */
const RETIRE_MS = 80_000
/** When the last attempt ends at the latest. Only a stream whose events keep coming runs for longer. */
const MAX_REQUEST_MS = LAST_START_MS + MAX_ATTEMPT_MS

/**
 * Accepts no more connections while other processes do. Each answer closes its connection, so that its caller opens another
 * one, and idle connections end by their own timeout. Resolves once all have ended, or `end` is aborted.
 */
export async function retireGateway(
  server: Server,
  runningRequests: RunningRequests,
  end: AbortSignal,
): Promise<void> {
  let isClosed = false
  server.prependListener('request', (_, res) => {
    res.shouldKeepAlive = false
  })
  // http.Server's own method would close idle connections.
  NetServer.prototype.close.call(server, () => {
    isClosed = true
  })
  const idleAt = performance.now() + RETIRE_MS
  const isDone = (): boolean => isClosed || (runningRequests.size === 0 && performance.now() > idleAt)
  await waitUntil(isDone, MAX_REQUEST_MS, end)
}

/** Runs `close`, which waits for running calls. Closes their connections when the grace ends. */
export async function closeControl(
  server: Server,
  close: () => Promise<void>,
  { graceMs, cut }: ClosingOptions,
): Promise<void> {
  let isClosed = false
  const closing = close().finally(() => {
    isClosed = true
  })
  if (!(await waitUntil(() => isClosed, graceMs, cut))) server.closeAllConnections()
  await closing
}

/** Returns false if `isDone` did not return true in time, or `end` was aborted before. */
async function waitUntil(isDone: () => boolean, timeoutMs: number, end?: AbortSignal): Promise<boolean> {
  const endsAt = performance.now() + timeoutMs
  while (!isDone()) {
    if (end?.aborted === true || performance.now() > endsAt) return false
    await sleep(POLL_MS)
  }
  return true
}
