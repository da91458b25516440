import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A caller must take this many bytes in a second on average, or it counts as one that does not read. */
export const MIN_BYTES_PER_SECOND = 1024
const MAX_INTERVAL_MS = 1_000

/** The private part of Node's sockets that tells how much the kernel has taken. Node's own timeouts read it too. */
interface StreamHandle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/** A connection of a caller. */
interface WatchedConnection {
  readonly socket: Socket
  /** The position in the list. */
  slot: number
  /** Bytes that the caller had taken when bytes waited for it; undefined: none waited. */
  taken: number | undefined
  /** How long it has been behind, in milliseconds. */
  behindMs: number
}

export interface SendTimeouts {
  /** Watches all connections of a server from now on. */
  watch(server: Server): void
  /** Connections that were closed. */
  readonly count: number
  close(): void
}

/**
 * Closes connections of callers that do not read: those that take no byte for `timeoutMs` while bytes wait for them, or
 * fewer than MIN_BYTES_PER_SECOND on average. The time that bytes wait counts up, and each byte taken counts it down.
 * Taken means by the kernel, whose buffers hold up to some megabytes for a caller.
 *
 * One timer looks at all connections, since a timer for each answer would cost every request. The request of a closed
 * connection ends as if its caller had disconnected.
 */
export function openSendTimeouts(timeoutMs: number): SendTimeouts {
  // Not a Set, for the reason given in core/short-lived-map.ts.
  const watched: WatchedConnection[] = []
  const intervalMs = Math.min(MAX_INTERVAL_MS, timeoutMs / 4)
  let count = 0
  let lastAt = performance.now()

  function closeStalled(): void {
    const now = performance.now()
    // A process that was suspended must not close connections that it could not serve meanwhile.
    const elapsedMs = Math.min(now - lastAt, 2 * intervalMs)
    lastAt = now
    for (const connection of [...watched]) {
      if (!isBehind(connection, elapsedMs, timeoutMs)) continue
      count++
      // Resets it: the kernel would go on offering the rest to the caller for minutes.
      connection.socket.resetAndDestroy()
    }
  }

  const timer = setInterval(closeStalled, intervalMs)
  timer.unref()

  function add(socket: Socket): void {
    const entry: WatchedConnection = { socket, slot: watched.length, taken: undefined, behindMs: 0 }
    watched.push(entry)
    socket.on('close', () => {
      const last = watched.pop() as WatchedConnection
      if (last === entry) return
      watched[entry.slot] = last
      last.slot = entry.slot
    })
  }

  return {
    watch: server => void server.on('connection', add),
    get count() {
      return count
    },
    close: () => clearInterval(timer),
  }
}

/** Adds the time since the last check, and returns true if the caller is to be given up. */
function isBehind(connection: WatchedConnection, elapsedMs: number, timeoutMs: number): boolean {
  const { socket, taken: before } = connection
  if (socket.writableLength === 0 || socket.destroyed) {
    connection.taken = undefined
    connection.behindMs = 0
    return false
  }
  const taken = takenBytes(socket)
  connection.taken = taken
  if (before === undefined) return false
  const creditMs = ((taken - before) / MIN_BYTES_PER_SECOND) * 1000
  connection.behindMs = Math.max(0, connection.behindMs + elapsedMs - creditMs)
  return connection.behindMs > timeoutMs
}

/** Returns how many bytes the kernel has taken from a connection so far. */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: StreamHandle | null }
  // Writes that are complete, if a version of Node has no such handle.
  if (handle?.writeQueueSize === undefined) return socket.bytesWritten - socket.writableLength
  return handle.bytesWritten - handle.writeQueueSize
}
