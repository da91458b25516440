import type { ClientConfig } from 'pg'

/** A server reached by its socket's folder or by host, without a password. */
export interface SocketConnection {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

/** Where a database is: a PostgreSQL URL, or the embedded server's socket. */
export type Connection = string | SocketConnection

/** For every client of ours: notices a dead peer, and gives up on an unreachable one. */
export function toClientConfig(connection: Connection): ClientConfig {
  const common: ClientConfig = {
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    fallback_application_name: 'rideau',
  }
  if (typeof connection === 'string') return { ...common, connectionString: connection }
  return { ...common, ...connection, ssl: false }
}

/** The same server, another database. */
export function withDatabase(connection: Connection, database: string): Connection {
  if (typeof connection !== 'string') return { ...connection, database }
  const url = new URL(connection)
  url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}
