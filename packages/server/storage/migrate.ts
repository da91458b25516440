import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Connection } from './connection.ts'
import { adoptPreRelease, listRecordedMigrations } from './migrations/adopt-pre-release.ts'
import { MIGRATIONS, type NumberedMigration } from './migrations/index.ts'
import { type Db, openDatabase, openPool } from './pool.ts'

/** After which the log says why the program does not start. */
const SLOW_MS = 10_000

/**
 * Brings the schema up to date and returns the names of the migrations that were applied, in order.
 *
 * All due migrations run in one transaction under an advisory lock: of several processes that start together one applies
 * them, and the others wait and then find none due. Afterwards every table gets row-level security.
 *
 * Throws an Error that names the migration that failed, or the one that this version does not know. Nothing is changed
 * then.
 */
export async function migrateDatabase(
  connection: Connection,
  log: (line: string) => void,
  migrations: readonly NumberedMigration[] = MIGRATIONS,
): Promise<string[]> {
  // No query timeout: a migration, or another process's migration that this one waits for, may take long.
  const db = openDatabase(openPool(connection, log, { max: 1, queryTimeoutMs: 0 }))
  const steps = migrations.map(({ name, sql: text }) => {
    return [name, { up: async (tx: typeof db) => void (await sql.raw(text).execute(tx)) }] as const
  })
  const provider = { getMigrations: async () => Object.fromEntries(steps) }
  const waiting = setTimeout(() => {
    log('the migrations of the database still run, or wait for those of another process')
  }, SLOW_MS).unref()
  try {
    await adoptPreRelease(db)
    await assertNotNewer(db, migrations)
    const { error, results = [] } = await new Migrator({ db, provider }).migrateToLatest()
    if (error !== undefined) {
      throw toMigrationError(error, results.find(result => result.status === 'Error')?.migrationName)
    }
    await protectTables(db)
    return results.map(result => result.migrationName)
  } finally {
    clearTimeout(waiting)
    await db.destroy()
  }
}

/** Throws if a newer version of the program migrated the database. */
async function assertNotNewer(db: Db, migrations: readonly NumberedMigration[]): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = (await listRecordedMigrations(db)).filter(name => !known.has(name))
  if (unknown.length === 0) return
  throw new Error(
    `The database was migrated by a newer version of Rideau: this version does not know ${unknown.join(', ')}. ` +
      'Start the newer version, or restore a backup that was made before the upgrade.',
  )
}

/** Adds row-level security to tables that lack it (migrations/0001-initial/row-security.ts). */
async function protectTables(db: Db): Promise<void> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regprocedure('rideau_protect()') is not null as exists`.execute(db)
  if (rows[0]?.exists === true) await sql`select rideau_protect()`.execute(db)
}

function toMigrationError(error: unknown, name: string | undefined): Error {
  const reason = error instanceof Error ? error.message : String(error)
  const subject = name === undefined ? 'The database cannot be migrated' : `Migration ${name} failed`
  return new Error(`${subject}: ${reason}`, { cause: error })
}
