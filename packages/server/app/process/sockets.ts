import { openSendTimeouts, type SendTimeouts } from '../../http/answer/send-timeouts.ts'
import { readFileLimit } from '../settings/file-limit.ts'
import type { Config } from '../settings/settings.ts'

/** What bounds the sockets of the process, except the number of callers' connections (open-connection-limits.ts). */
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
  const { maxUpstreamConnections: max, workers } = config
  const maxUpstream =
    max === undefined
      ? toMaxUpstream(readFileLimit(), workers)
      : Math.max(MIN_SET_UPSTREAM, Math.ceil(max / workers))
  return { maxUpstream, sendTimeouts }
}

/** The least that a process may be set to. */
const MIN_SET_UPSTREAM = 16
const MIN_UPSTREAM = 64
const MAX_UPSTREAM = 16_384
/** Callers of both planes may have 9/16 of the files, and the database, the journal and libraries need some. */
const UPSTREAM_PART = 5 / 16

/** Returns how many connections to providers fit into the limit on open files of each of `workers` workers. */
export function toMaxUpstream(maxOpenFiles: number, workers: number): number {
  return Math.min(
    Math.ceil(MAX_UPSTREAM / workers),
    Math.max(MIN_UPSTREAM, Math.floor(maxOpenFiles * UPSTREAM_PART)),
  )
}
