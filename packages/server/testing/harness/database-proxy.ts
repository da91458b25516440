import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Connection } from '../../storage/connection.ts'

/** A proxy before a PostgreSQL server, which tests put out of reach. */
export interface DatabaseProxy {
  readonly connection: Connection
  /** Ends the connections of its clients. Those to the server stay open, so that the server does not notice. */
  cut(): void
  /** Cuts, and refuses connections until `listen` is called. */
  refuse(): Promise<void>
  listen(): Promise<void>
  close(): void
}

export async function openDatabaseProxy(to: Connection): Promise<DatabaseProxy> {
  const clients = new Set<Socket>()
  const proxy = createServer(client => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    const server =
      typeof to === 'string'
        ? connect(Number(new URL(to).port || 5432), new URL(to).hostname)
        : connect(join(to.host, `.s.PGSQL.${to.port}`))
    for (const socket of [client, server]) socket.on('error', () => {})
    client.on('data', chunk => server.write(chunk))
    server.on('data', chunk => client.write(chunk))
    server.on('close', () => client.destroy())
  })
  let port = 0
  const listen = async (): Promise<void> => {
    await new Promise<void>(resolve => proxy.listen(port, '127.0.0.1', resolve))
    port = (proxy.address() as AddressInfo).port
  }
  const cut = (): void => {
    for (const client of clients) client.destroy()
  }
  await listen()
  return {
    connection: through(to, port),
    cut,
    async refuse() {
      await new Promise(resolve => {
        proxy.close(resolve)
        cut()
      })
    },
    listen,
    close() {
      proxy.close()
      cut()
    },
  }
}

function through(to: Connection, port: number): Connection {
  if (typeof to !== 'string') return { ...to, host: '127.0.0.1', port }
  const url = new URL(to)
  url.host = `127.0.0.1:${port}`
  return url.href
}
