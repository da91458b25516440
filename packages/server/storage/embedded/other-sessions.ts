import { Client } from 'pg'
import type { SocketConnection } from './socket-connection.ts'
import { waitFor } from './wait-for.ts'

/** True if other sessions exist for a whole second. Sessions that are just ending disappear sooner. */
export async function isUsedByOthers(connection: SocketConnection): Promise<boolean> {
  const client = new Client({
    ...connection,
    ssl: false,
    query_timeout: 5000,
    connectionTimeoutMillis: 5000,
    fallback_application_name: 'rideau',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const alone = await waitFor(
      async () => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
        )
        return rows.length === 0
      },
      1000,
      20,
    )
    return alone === undefined
  } catch {
    // The server accepts no connection, so nobody can be using it.
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** How this program connects to the server of a socket folder. */
export function toSocketConnection(server: {
  readonly socketDir: string
  readonly port: number
}): SocketConnection {
  return { host: server.socketDir, port: server.port, user: 'postgres', database: 'postgres' }
}
