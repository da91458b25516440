import { type Kysely, sql } from 'kysely'

/** What development versions recorded before the first release. Together they made the schema of 0001-initial. */
const PRE_RELEASE = [
  '0001-tenancy',
  '0002-usage',
  '0003-people',
  '0004-models',
  '0005-policies',
  '0006-observe',
  '0007-row-security',
  '0008-sealed',
  '0009-signing-keys',
  '0010-alerts',
  '0011-log-hold',
]

/**
 * Records 0001-initial in place of the pre-release migrations if the database has all of them, and so the schema that
 * 0001-initial creates. Does nothing to any other database. Throws an Error if only some of them were applied.
 * Concurrent callers wait for each other.
 */
export async function adoptPreRelease<Tables>(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async tx => {
    await sql`select pg_advisory_xact_lock(hashtextextended('rideau.migrate', 0))`.execute(tx)
    const recorded = await listRecordedMigrations(tx)
    const applied = recorded.filter(name => PRE_RELEASE.includes(name))
    if (applied.length === 0) return
    if (applied.length < PRE_RELEASE.length) {
      throw new Error(
        `The database was created by a development version of Rideau (up to migration ${applied.at(-1)}) and cannot ` +
          'be upgraded. Start with an empty database: move the data folder away, or change DATABASE_URL.',
      )
    }
    await sql`delete from kysely_migration where name = any(${PRE_RELEASE.slice(0, -1)})`.execute(tx)
    await sql`update kysely_migration set name = '0001-initial' where name = ${PRE_RELEASE.at(-1)}`.execute(
      tx,
    )
  })
}

/** Names of the migrations that were applied to the database, in their order; empty for a new database. */
export async function listRecordedMigrations<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db)
  if (found[0]?.exists !== true) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(row => row.name)
}
