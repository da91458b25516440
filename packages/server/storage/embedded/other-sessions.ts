import { Client } from 'pg'
import { OWN_SESSIONS, type SocketConnection } from './socket-connection.ts'
import { waitFor } from './wait-for.ts'

/**
 * True if other sessions exist for a whole second. Sessions that are just ending disappear sooner. With `ignoreOwn`
 * sessions of this process do not count.
 */
export async function isUsedByOthers(
  connection: SocketConnection,
  { ignoreOwn = false }: { readonly ignoreOwn?: boolean } = {},
): Promise<boolean> {
  const client = new Client({
    ...connection,
    ssl: false,
    query_timeout: 5000,
    connectionTimeoutMillis: 5000,
    application_name: OWN_SESSIONS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const alone = await waitFor(
      async () => {
        const { rows } = await client.query(
          `select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
            and ($1 = '' or application_name <> $1) limit 1`,
          [ignoreOwn ? OWN_SESSIONS : ''],
        )
        return rows.length === 0
      },
      1000,
      20,
    )
    return alone === undefined
  } catch {
    // The server accepts no connection, so no session can be using it.
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
