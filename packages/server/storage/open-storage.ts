import type { Pool } from 'pg'
import type { Connection } from './connection.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/start.ts'
import { migrateDatabase } from './migrate.ts'
import { type Db, openDatabase, openPool } from './pool.ts'

export interface Storage {
  readonly pool: Pool
  readonly db: Db
  /** For the connections of their own: announcements and the instance lock. */
  readonly connection: Connection
  /** Ends the pool, then the embedded server where no other process uses it. */
  close(): Promise<void>
}

export interface StorageOptions {
  /** Absent: the embedded server under dataDir. */
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  readonly log: (line: string) => void
}

/** The database, running and with the schema of this program. Throws where it cannot be had or migrated. */
export async function openStorage({ databaseUrl, dataDir, log }: StorageOptions): Promise<Storage> {
  let embedded: EmbeddedPostgres | undefined
  if (databaseUrl === undefined) embedded = await startEmbeddedPostgres({ dataDir, log })
  const connection = embedded?.connection ?? (databaseUrl as string)
  try {
    for (const name of await migrateDatabase(connection, log)) log(`applied migration ${name}`)
  } catch (error) {
    await embedded?.stop()
    throw error
  }
  const pool = openPool(connection, log)
  return {
    pool,
    db: openDatabase(pool),
    connection,
    async close() {
      if (!pool.ending) await pool.end()
      await embedded?.stop()
    },
  }
}
