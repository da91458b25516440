import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { type Connection, toClientConfig, withDatabase } from '../../storage/connection.ts'
import { startEmbeddedPostgres } from '../../storage/embedded/start.ts'
import { migrateDatabase } from '../../storage/migrate.ts'
import { ON_INSTALLED_POSTGRES } from './installed-postgres.ts'
import { startRealPostgres } from './real-postgres.ts'

/** A server for tests, with a migrated template database. */
export interface TestServer {
  readonly label: string
  readonly connection: Connection
  readonly template: string
}

declare module 'vitest' {
  interface ProvidedContext {
    pg: TestServer
    /** The machine's own PostgreSQL; null if none is installed. */
    pgReal: TestServer | null
  }
}

/** Test data need not survive a crash, so durability is off. */
const SETTINGS = {
  shared_buffers: '64MB',
  max_connections: '200',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  jit: 'off',
  dynamic_shared_memory_type: 'mmap',
}

const ROOM_BYTES = 256 * 1024 * 1024

/**
 * Starts the servers once for the whole run. With RIDEAU_TEST_DATABASE_URL the suites run on that server only;
 * with RIDEAU_TEST_REQUIRE=all a missing PostgreSQL of the machine is a failure.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.RIDEAU_TEST_DATABASE_URL
  const home = mkdtempSync(join(chooseFolder(), 'rideau-test-'))
  chmodSync(home, 0o755)
  const cleanUps: (() => Promise<void>)[] = []
  const tearDown = async (): Promise<void> => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const [pg, pgReal] = await startServers(project.name, given, home, cleanUps)
    project.provide('pg', pg)
    project.provide('pgReal', pgReal)
  } catch (error) {
    await tearDown()
    throw error
  }
  return tearDown
}

/** Starts the server of a project's suites, and the second server that storage suites also run on. */
async function startServers(
  project: string,
  given: string | undefined,
  home: string,
  cleanUps: (() => Promise<void>)[],
): Promise<readonly [TestServer, TestServer | null]> {
  if (given !== undefined) return [await useGiven(given, cleanUps), null]
  if (project !== ON_INSTALLED_POSTGRES) {
    return await Promise.all([startEmbedded(home, cleanUps), startReal(home, cleanUps)])
  }
  const real = await startReal(home, cleanUps)
  if (real === null) throw new Error('the PostgreSQL that was installed a moment ago is gone')
  return [real, null]
}

async function startEmbedded(home: string, cleanUps: (() => Promise<void>)[]): Promise<TestServer> {
  const server = await startEmbeddedPostgres({
    dataDir: join(home, 'embedded'),
    log: () => {},
    settings: SETTINGS,
    initArgs: ['--no-sync'],
  })
  cleanUps.push(() => server.stop({ force: true }))
  return createTemplate('embedded PostgreSQL', server.connection, 'template_rideau')
}

async function startReal(home: string, cleanUps: (() => Promise<void>)[]): Promise<TestServer | null> {
  const server = await startRealPostgres(home, SETTINGS)
  if (server === undefined) {
    if (process.env.RIDEAU_TEST_REQUIRE === 'all') throw new Error('no PostgreSQL in /usr/lib/postgresql')
    console.log(
      'skipped: all suites of storage and the control plane on a real PostgreSQL (none in /usr/lib/postgresql)',
    )
    return null
  }
  cleanUps.push(() => server.stop())
  return createTemplate(`PostgreSQL ${server.major}`, server.connection, 'template_rideau')
}

async function useGiven(url: string, cleanUps: (() => Promise<void>)[]): Promise<TestServer> {
  const template = `template_rideau_${process.pid}`
  cleanUps.push(() =>
    onServer(url, async client => {
      await client.query(`alter database ${template} is_template false`)
      await client.query(`drop database ${template}`)
    }),
  )
  return createTemplate('RIDEAU_TEST_DATABASE_URL', url, template)
}

async function createTemplate(label: string, connection: Connection, template: string): Promise<TestServer> {
  await onServer(connection, client => client.query(`create database ${template}`))
  await migrateDatabase(withDatabase(connection, template), console.log)
  // A session in a template would make every copy fail with "being accessed by other users".
  await onServer(connection, client =>
    client.query(`alter database ${template} is_template true allow_connections false`),
  )
  return { label, connection, template }
}

async function onServer(connection: Connection, use: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client(toClientConfig(connection))
  await client.connect()
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

/** Returns a folder in memory if it has enough space: containers have 64 MB only. */
function chooseFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > ROOM_BYTES) return '/dev/shm'
  } catch {
    // macOS has no such folder.
  }
  return tmpdir()
}
