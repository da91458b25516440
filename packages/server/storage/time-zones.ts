import { sql } from 'kysely'
import type { Db } from './pool.ts'

/** Tells whether PostgreSQL has a time zone of this name, in any case. */
export type HasTimeZone = (name: string) => Promise<boolean>

/** Reads the names once, because listing them takes PostgreSQL a tenth of a second. Abbreviations such as `PST` are not among them. */
export function openTimeZones(db: Db): HasTimeZone {
  let reading: Promise<ReadonlySet<string>> | undefined
  return async name => {
    reading ??= readNames(db)
    try {
      return (await reading).has(name.toLowerCase())
    } catch (error) {
      reading = undefined
      throw error
    }
  }
}

async function readNames(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select lower(name) as name from pg_timezone_names`.execute(db)
  return new Set(rows.map(({ name }) => name))
}
