import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Connection, toClientConfig } from '../../storage/connection.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../storage/embedded/start.ts'

/** What makes a test's server start and stop fast. */
export const SETTINGS = { fsync: 'off', shared_buffers: '16MB' }
export const INIT_ARGS = ['--no-sync']

/** Starts the server as the gateway does, prints the connection, and stops it when its input ends. */
export const PROGRAM = `
import { startEmbeddedPostgres } from './packages/server/storage/embedded/start.ts'
const server = await startEmbeddedPostgres({
  dataDir: process.argv[2] as string, log: () => {}, settings: ${JSON.stringify(SETTINGS)}, initArgs: ['--no-sync'],
})
console.log(JSON.stringify({ connection: server.connection, adopted: server.adopted }))
process.stdin.resume().on('end', async () => {
  await server.stop()
  process.exit()
})
`

export function startTestServer(
  dataDir: string,
  log: (line: string) => void = () => {},
): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, log, settings: SETTINGS, initArgs: INIT_ARGS })
}

/** Creates a temporary folder that only its owner can enter, in memory where that is possible. */
export function createHome(label: string): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `rideau-embedded-${label}-`))
}

/** If only root can enter the project's folder, the servers of homes with this label ran from copies of the program files. */
export function removeProgramCopies(label: string): void {
  const copies = existsSync('/var/lib/rideau') ? readdirSync('/var/lib/rideau') : []
  for (const name of copies.filter(each => each.includes(`rideau-embedded-${label}`))) {
    rmSync(join('/var/lib/rideau', name), { recursive: true })
  }
}

export async function query(connection: Connection, sql: string): Promise<unknown[]> {
  const client = new Client(toClientConfig(connection))
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
