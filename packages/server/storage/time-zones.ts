import { sql } from 'kysely'
import type { Db } from './pool.ts'

/** Returns PostgreSQL's spelling of the name of a time zone, which is given in any case; undefined if it has none of this name. */
export type SpellTimeZone = (name: string) => Promise<string | undefined>

/** Reads the names once, because listing them takes PostgreSQL a tenth of a second. Abbreviations such as `PST` are not among them. */
export function openTimeZones(db: Db): SpellTimeZone {
  let reading: Promise<ReadonlyMap<string, string>> | undefined
  return async name => {
    reading ??= readNames(db)
    try {
      return (await reading).get(name.toLowerCase())
    } catch (error) {
      reading = undefined
      throw error
    }
  }
}

async function readNames(db: Db): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string }>`select name from pg_timezone_names`.execute(db)
  return new Map(rows.map(({ name }) => [name.toLowerCase(), name]))
}
