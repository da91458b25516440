import { Redis } from 'ioredis'

/**
 * A command without an answer after so long fails. It may still run: what is sent must bear that. Well above what a busy
 * process or a saving server may stall, since an answer that is there but not read yet would count as none.
 */
const COMMAND_TIMEOUT_MS = 500
const CONNECT_TIMEOUT_MS = 2000
/** So that what was lost is noticed as restored within a second. */
const LONGEST_RETRY_MS = 1000

export interface RedisOptions {
  readonly url: string
  readonly name: string
  readonly commandTimeoutMs?: number | undefined
}

/**
 * A connection that fails at once while the server is out of reach and restores itself for as long as it takes. Not
 * connected yet: call `connect()`. Automatic pipelining stays off: in this version of the client it costs more than it
 * saves.
 */
export function openRedis({ url, name, commandTimeoutMs = COMMAND_TIMEOUT_MS }: RedisOptions): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectionName: name,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    // Whoever listens subscribes anew on every `ready`.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: tries => Math.min(50 * tries, LONGEST_RETRY_MS),
  })
  // Each command tells its own failure; an error event without a listener would print to the terminal.
  redis.on('error', () => {})
  return redis
}
