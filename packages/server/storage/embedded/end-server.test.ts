import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createHome,
  query,
  removeProgramCopies,
  startTestServer,
} from '../../testing/harness/embedded-server.ts'
import { toClientConfig } from '../connection.ts'
import { endEmbeddedServer, identifyCluster } from './end-server.ts'
import { listServerProcesses } from './server-processes.ts'
import type { EmbeddedPostgres } from './start.ts'

let home: string
let dataDir: string
let server: EmbeddedPostgres | undefined

beforeEach(() => {
  home = createHome('end')
  dataDir = join(home, 'data')
})
afterEach(async () => {
  await server?.stop({ force: true })
  rmSync(home, { recursive: true, force: true })
  removeProgramCopies('end')
})

async function connect(name?: string): Promise<Client> {
  const config = toClientConfig((server as EmbeddedPostgres).connection)
  const client = new Client(name === undefined ? config : { ...config, application_name: name })
  client.on('error', () => {})
  await client.connect()
  return client
}

test('ends a server on which only this process has sessions, and what was committed is recovered', async () => {
  server = await startTestServer(dataDir)
  const { connection } = server
  await query(connection, 'create table kept as select 42 as answer')
  await connect()
  await endEmbeddedServer(dataDir)
  expect(listServerProcesses(identifyCluster(dataDir))).toEqual([])
  server = await startTestServer(dataDir)
  expect(await query(server.connection, 'select answer from kept')).toEqual([{ answer: 42 }])
})

test('leaves a server on which another process has a session', async () => {
  server = await startTestServer(dataDir)
  const other = await connect('rideau 1')
  await endEmbeddedServer(dataDir)
  expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await other.end()
})

test('ends a server that is just being started', async () => {
  const starting = startTestServer(dataDir)
  starting.catch(() => {})
  await expect
    .poll(() => listServerProcesses(identifyCluster(dataDir)).length, { timeout: 60_000, interval: 1 })
    .toBeGreaterThan(0)
  await endEmbeddedServer(dataDir)
  expect(listServerProcesses(identifyCluster(dataDir))).toEqual([])
  // It was ready before the signal, or never.
  server = await starting.catch(() => undefined)
})

test('does nothing without a data folder, a cluster or a server', async () => {
  await endEmbeddedServer(dataDir)
  server = await startTestServer(dataDir)
  await server.stop()
  await endEmbeddedServer(dataDir)
  expect(listServerProcesses(identifyCluster(dataDir))).toEqual([])
})
