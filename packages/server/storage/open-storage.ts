import type { Pool } from 'pg'
import type { Connection } from './connection.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/start.ts'
import { migrateDatabase } from './migrate.ts'
import { type Db, openDatabase, openPool } from './pool.ts'

export interface Storage {
  readonly pool: Pool
  readonly db: Db
  /** A single connection, over which records are written. */
  readonly recordPool: Pool
  /** For clients outside the pool: notifications and the instance lock keep a connection of their own. */
  readonly connection: Connection
  /** Ends the pools, then stops the embedded server unless another process uses it. Safe to call twice. */
  close(): Promise<void>
}

export interface StorageOptions {
  /** undefined: starts the embedded server in dataDir. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  readonly log: (line: string) => void
}

/** Connects to the database, or starts the embedded one, and migrates it. Throws if either fails. */
export async function openStorage({ databaseUrl, dataDir, log }: StorageOptions): Promise<Storage> {
  let embedded: EmbeddedPostgres | undefined
  if (databaseUrl === undefined) embedded = await startEmbeddedPostgres({ dataDir, log })
  const connection = embedded?.connection ?? (databaseUrl as string)
  try {
    const names = await migrateDatabase(connection, log)
    if (names.length > 2) log(`applied ${names.length} migrations, from ${names[0]} to ${names.at(-1)}`)
    else for (const name of names) log(`applied migration ${name}`)
  } catch (error) {
    await embedded?.stop()
    throw error
  }
  const connected = connectStorage(connection, log)
  return {
    ...connected,
    async close() {
      await connected.close()
      await embedded?.stop()
    },
  }
}

/** Connects to a database that another process of this program has started and migrated. */
export function connectStorage(connection: Connection, log: (line: string) => void, max?: number): Storage {
  const pool = openPool(connection, log, max === undefined ? {} : { max })
  const recordPool = openPool(connection, log, { max: 1 })
  return {
    pool,
    db: openDatabase(pool),
    recordPool,
    connection,
    async close() {
      for (const each of [pool, recordPool]) if (!each.ending) await each.end()
    },
  }
}
