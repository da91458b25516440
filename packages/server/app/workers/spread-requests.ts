import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type OnException, runGuarded } from '../../core/on-exception.ts'
import type { SharedLoads } from '../../workers/messages/loads.ts'

const SAMPLE_MS = 100
/** The number of samples whose mean is reported as the load. */
const SAMPLES = 10
/** How many requests a worker may run above the mean of all: this number, or this part of the mean if that is more. */
const MIN_EXCESS = 4
const EXCESS_PART = 1 / 4

export interface SpreadOptions {
  /** Returns how many requests run now. */
  readonly running: () => number
  readonly loads: SharedLoads
  readonly onException: OnException
}

/**
 * Spreads requests over the workers of the machine. Who is awake first accepts a connection, and a caller may keep it for
 * hours. A worker that runs more requests than the mean therefore closes some connections with their answers, which is
 * safe at any time: their callers open others, which the workers with less to do accept sooner.
 */
export function openSpread(
  server: Server,
  { running, loads, onException }: SpreadOptions,
): { close(): void } {
  let remaining = 0
  let samples: number[] = []
  const closeAfter = (_: IncomingMessage, res: ServerResponse): void => {
    res.shouldKeepAlive = false
    if (--remaining <= 0) server.off('request', closeAfter)
  }
  const setRemaining = (count: number): void => {
    server.off('request', closeAfter)
    remaining = count
    // Without anything to close, requests are not slowed down.
    if (count > 0) server.prependListener('request', closeAfter)
  }
  const sample = async (): Promise<void> => {
    samples.push(running())
    if (samples.length < SAMPLES) return
    const own = samples.reduce((sum, sample) => sum + sample, 0) / samples.length
    samples = []
    // Without its supervisor a worker keeps what it has.
    const others = await loads.report(own).catch(() => [])
    setRemaining(countToClose(own, others))
  }
  const timer = setInterval(() => runGuarded('the spread of requests', onException, sample), SAMPLE_MS)
  timer.unref()
  return {
    close() {
      clearInterval(timer)
      loads.withdraw()
    },
  }
}

/** Returns how many connections a worker closes that runs `own` requests. Half of what it has too much, so that it never swings. */
export function countToClose(own: number, others: readonly number[]): number {
  if (others.length === 0) return 0
  const mean = (own + others.reduce((sum, other) => sum + other, 0)) / (1 + others.length)
  const excess = own - mean
  return excess <= Math.max(MIN_EXCESS, mean * EXCESS_PART) ? 0 : Math.ceil(excess / 2)
}
