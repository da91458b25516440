import type { ClientConfig } from 'pg'
import { OWN_SESSIONS, type SocketConnection } from './embedded/socket-connection.ts'

/** Where a database is: a `postgres://` URL, or the embedded server's socket. */
export type Connection = string | SocketConnection

/** Settings of every client: a dead peer is noticed by TCP keep-alive, an unreachable server fails after 10 seconds. */
export function toClientConfig(connection: Connection): ClientConfig {
  const common: ClientConfig = {
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    fallback_application_name: 'rideau',
  }
  if (typeof connection === 'string') return { ...common, connectionString: connection }
  return { ...common, ...connection, application_name: OWN_SESSIONS, options: SESSION_SETTINGS, ssl: false }
}

/**
 * The embedded server writes no failed statement into its log, which has no bound while it runs: a caller whose calls
 * conflict could fill the disk. The program reads each failure itself. What the server's own processes find is logged.
 */
const SESSION_SETTINGS = '-c log_min_messages=log'

/** The connection with another database on the same server. */
export function withDatabase(connection: Connection, database: string): Connection {
  if (typeof connection !== 'string') return { ...connection, database }
  const url = new URL(connection)
  url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}
