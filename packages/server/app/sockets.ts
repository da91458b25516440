import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { openSendTimeouts, type SendTimeouts } from '../http/send-timeouts.ts'
import type { Config } from './settings.ts'

/** What bounds the sockets of the process. */
export interface Sockets {
  /** Connections to providers at most. */
  readonly maxUpstream: number
  readonly sendTimeouts: Pick<SendTimeouts, 'count'>
  /** Bounds the connections of a server, and ends callers that do not read. Returns the server. */
  guard(server: Server, plane: 'gateway' | 'control'): Server
}

/** Reads the limit on open files. `closers` get what ends the timers. */
export function openSockets(config: Config, closers: (() => void)[]): Sockets {
  const sendTimeouts = openSendTimeouts(config.sendTimeoutMs)
  closers.push(() => sendTimeouts.close())
  const budget = toSocketBudget(readMaxOpenFiles(), config.maxUpstreamConnections)
  return {
    maxUpstream: budget.upstream,
    sendTimeouts,
    guard(server, plane) {
      const maxConnections = budget[plane]
      if (maxConnections !== undefined) server.maxConnections = maxConnections
      sendTimeouts.watch(server)
      return server
    },
  }
}

/** How the sockets that a process may have open are divided. */
interface SocketBudget {
  /** Connections to providers. */
  readonly upstream: number
  /** Connections of callers to the gateway and to the control plane. undefined: no limit is known. */
  readonly gateway: number | undefined
  readonly control: number | undefined
}

/** For the database, the journal, images that are fetched, logs and libraries. */
const RESERVED = 256
const MIN_UPSTREAM = 64
const MAX_UPSTREAM = 16_384

/** Returns how many files and sockets this process may have open. undefined: unknown, as on macOS. */
function readMaxOpenFiles(): number | undefined {
  try {
    // The first number is the soft limit, which Node itself raises to the hard one.
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found === null ? undefined : Number(found[1])
  } catch {
    return undefined
  }
}

/**
 * Divides the sockets so that callers cannot use up those that serve other callers. Half of them, at most 16,384, are for
 * providers, unless `upstream` is given; of the rest an eighth is for the control plane.
 */
export function toSocketBudget(maxOpenFiles: number | undefined, upstream: number | undefined): SocketBudget {
  const free = maxOpenFiles === undefined ? undefined : maxOpenFiles - RESERVED
  const own =
    upstream ?? Math.min(MAX_UPSTREAM, Math.max(MIN_UPSTREAM, Math.floor((free ?? 2 * MAX_UPSTREAM) / 2)))
  if (free === undefined) return { upstream: own, gateway: undefined, control: undefined }
  const incoming = Math.max(MIN_UPSTREAM, free - own)
  const control = Math.floor(incoming / 8)
  return { upstream: own, gateway: incoming - control, control }
}
