import { openSendTimeouts, type SendTimeouts } from '../http/send-timeouts.ts'
import { readFileLimit } from './file-limit.ts'
import type { Config } from './settings.ts'

/** What bounds the sockets of the process, but for the number of callers' connections (open-connection-limits.ts). */
export interface Sockets {
  /** Connections to providers at most. */
  readonly maxUpstream: number
  /** Ends callers that do not read. */
  readonly sendTimeouts: Pick<SendTimeouts, 'count' | 'watch'>
}

/** Reads the limit on open files. `closers` get what ends the timers. */
export function openSockets(config: Config, closers: (() => void)[]): Sockets {
  const sendTimeouts = openSendTimeouts(config.sendTimeoutMs)
  closers.push(() => sendTimeouts.close())
  return { maxUpstream: config.maxUpstreamConnections ?? toMaxUpstream(readFileLimit()), sendTimeouts }
}

const MIN_UPSTREAM = 64
const MAX_UPSTREAM = 16_384
/** Callers of both planes may have 9/16 of the files, and the database, the journal and libraries need some. */
const UPSTREAM_PART = 5 / 16

/** Returns how many connections to providers fit into a limit on open files. */
export function toMaxUpstream(maxOpenFiles: number): number {
  return Math.min(MAX_UPSTREAM, Math.max(MIN_UPSTREAM, Math.floor(maxOpenFiles * UPSTREAM_PART)))
}
