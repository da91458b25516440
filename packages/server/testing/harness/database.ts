import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { inject } from 'vitest'
import { type Connection, toClientConfig, withDatabase } from '../../storage/connection.ts'
import { type Db, openDatabase, openPool } from '../../storage/pool.ts'
import type { TestServer } from './global-setup.ts'

export interface FreshDatabase {
  readonly db: Db
  readonly pool: Pool
  readonly connection: Connection
  /** Ends the pool and removes the database, also below sessions that are still open. */
  drop(): Promise<void>
}

/** Every server that a storage suite has to hold on: `describe.each(listTestServers())('$label', …)`. */
export function listTestServers(): TestServer[] {
  const real = inject('pgReal')
  return real === null ? [inject('pg')] : [inject('pg'), real]
}

/** A database of its own with the whole schema, in about 20 ms: cheaper than to empty a used one. */
export async function freshDatabase(server: TestServer = inject('pg')): Promise<FreshDatabase> {
  return create(server, `template ${server.template} strategy file_copy`)
}

/** The same without a schema, to migrate. */
export async function emptyDatabase(server: TestServer = inject('pg')): Promise<FreshDatabase> {
  return create(server, 'template template0')
}

async function create(server: TestServer, from: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name} ${from}`)
  const connection = withDatabase(server.connection, name)
  const pool = openPool(connection, () => {}, { max: 4 })
  return {
    db: openDatabase(pool),
    pool,
    connection,
    async drop() {
      if (!pool.ending) await pool.end()
      await administer(server, `drop database ${name} with (force)`)
    },
  }
}

async function administer(server: TestServer, statement: string): Promise<void> {
  const client = new Client(toClientConfig(server.connection))
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
