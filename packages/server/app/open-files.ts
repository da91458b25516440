import { readFileSync } from 'node:fs'

/** How the sockets that a process may have open are divided. */
export interface SocketBudget {
  /** Connections to providers. */
  readonly upstream: number
  /** Connections of callers to the gateway and to the control plane. undefined: no limit is known. */
  readonly gateway: number | undefined
  readonly control: number | undefined
}

/** For the database, the journal, images that are fetched, logs and libraries. */
const RESERVED = 256
const MIN_UPSTREAM = 64
const MAX_UPSTREAM = 4096

/** Returns how many files and sockets this process may have open. undefined: unknown, as on macOS. */
export function readMaxOpenFiles(): number | undefined {
  try {
    // Node itself raises the soft limit, which is the first number, as far as the hard one allows.
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found === null ? undefined : Number(found[1])
  } catch {
    return undefined
  }
}

/**
 * Divides the sockets so that callers cannot use up those that serve other callers. Half of them, at most 4,096, are for
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
