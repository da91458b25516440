import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Connection } from './connection.ts'
import { MIGRATIONS, type NumberedMigration } from './migrations/index.ts'
import { type Db, openDatabase, openPool } from './pool.ts'

/**
 * Brings the schema up to date and returns the names of the migrations that it applied. All that are due run in one
 * transaction under an advisory lock: of several processes one applies, the others wait and find nothing to do.
 * Throws an Error that names the migration which failed; nothing of it or of its fellows is left then. Every table is
 * put behind row-level security after each run.
 */
export async function migrateDatabase(
  connection: Connection,
  log: (line: string) => void,
  migrations: readonly NumberedMigration[] = MIGRATIONS,
): Promise<string[]> {
  // No time-out: a migration takes its time, and so does waiting for another process's.
  const db = openDatabase(openPool(connection, log, { max: 1, queryTimeoutMs: 0 }))
  const steps = migrations.map(({ name, sql: text }) => {
    return [name, { up: async (on: typeof db) => void (await sql.raw(text).execute(on)) }] as const
  })
  const provider = { getMigrations: async () => Object.fromEntries(steps) }
  try {
    const { error, results = [] } = await new Migrator({ db, provider }).migrateToLatest()
    if (error !== undefined)
      throw describe(error, results.find(result => result.status === 'Error')?.migrationName)
    await protectTables(db)
    return results.map(result => result.migrationName)
  } finally {
    await db.destroy()
  }
}

/** Every table, of whichever migration, stands behind row-level security (0007-row-security.ts). */
async function protectTables(db: Db): Promise<void> {
  const { rows } = await sql<{ known: boolean }>`
    select to_regprocedure('rideau_protect()') is not null as known`.execute(db)
  if (rows[0]?.known === true) await sql`select rideau_protect()`.execute(db)
}

function describe(error: unknown, name: string | undefined): Error {
  const reason = error instanceof Error ? error.message : String(error)
  const subject = name === undefined ? 'The schema cannot be migrated' : `Migration ${name} failed`
  return new Error(`${subject}: ${reason}`, { cause: error })
}
