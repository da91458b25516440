import type { IncomingMessage } from 'node:http'
import { isStalled } from '../connection/given-up.ts'
import { takeTurn } from '../fairness/sliced-work.ts'
import { costOf, pauseReading, resumeReading } from './received-request.ts'

/** How often `dropRest` checks whether the rest still comes, in milliseconds. */
const CHECK_MS = 500
/** How long the rest of a body is read behind its answer, in milliseconds. */
export const MAX_REST_MS = 10_000
/** The most that is read of it, in bytes: twice the longest body. Short chunks count as a KiB each. */
export const MAX_REST_COST = 64 * 1024 * 1024
/** What is read in one turn. */
const TURN_COST = 128 * 1024

/**
 * Reads and drops the rest of a refused body. A connection that closes under a client that is still sending takes the answer with it.
 * Calls `done` once: at the end of the body, when the connection is lost, after 10 s, when too much was read, or soon after nothing more
 * of it is read.
 */
export function dropRest(req: IncomingMessage, done: () => void): void {
  let isDone = false
  let bytes = 0
  const startCost = costOf(req, 0)
  let nextTurnAt = TURN_COST
  const end = (): void => {
    if (isDone) return
    isDone = true
    clearInterval(timer)
    req.off('data', onData)
    req.off('end', end)
    req.off('close', end)
    done()
  }
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    const cost = costOf(req, bytes) - startCost
    if (cost > MAX_REST_COST) return end()
    if (cost < nextTurnAt) return
    nextTurnAt = cost + TURN_COST
    pauseReading(req)
    void takeTurn().then(() => resumeReading(req))
  }
  let checks = 0
  const timer = setInterval(() => {
    if (++checks * CHECK_MS >= MAX_REST_MS || isStalled(req)) end()
  }, CHECK_MS)
  timer.unref()
  req.once('end', end)
  req.once('close', end)
  req.on('data', onData)
  req.resume()
  resumeReading(req)
}
