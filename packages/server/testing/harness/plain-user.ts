import type { Pool } from 'pg'
import { openPool } from '../../storage/pool.ts'
import type { FreshDatabase } from './database.ts'

/** A user that owns the tables and may not create roles, as on most hosted databases. */
const PLAIN_USER = 'rideau_test_plain'

/** Makes the plain user the owner of all tables and opens a pool of its sessions. */
export async function openAsPlainUser(database: FreshDatabase): Promise<Pool> {
  await database.pool.query(`do $$ begin
    if not exists (select from pg_roles where rolname = '${PLAIN_USER}') then
      create role ${PLAIN_USER} nologin;
    end if;
  exception when duplicate_object or unique_violation then null;
  end $$`)
  await database.pool.query(`grant all on schema public to ${PLAIN_USER}`)
  const { rows } = await database.pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  )
  for (const { name } of rows) await database.pool.query(`alter table ${name} owner to ${PLAIN_USER}`)
  const pool = openPool(database.connection, () => {}, { max: 4 })
  pool.options.onConnect = async client =>
    void (await client.query(`set session authorization ${PLAIN_USER}`))
  await pool.query('select rideau_protect()')
  return pool
}
