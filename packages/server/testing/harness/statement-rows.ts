import type { Pool } from 'pg'

/** Has the database count the rows that each statement deletes from the tables. */
export async function countDeletedRows(pool: Pool, tables: readonly string[]): Promise<void> {
  await pool.query(
    `create table deleted_rows (rows bigint);
    create function count_deleted() returns trigger language plpgsql as $$
    begin
      insert into deleted_rows select count(*) from gone;
      return null;
    end $$`,
  )
  for (const table of tables)
    await pool.query(
      `create trigger count_deleted after delete on ${table} referencing old table as gone
        for each statement execute function count_deleted()`,
    )
}

/** Returns how many rows the statements deleted that deleted the most, and all of them together. */
export async function readDeletedRows(pool: Pool): Promise<{ readonly most: number; readonly all: number }> {
  const { rows } = await pool.query<{ most: number; all: number }>(
    'select max(rows)::integer as most, sum(rows)::integer as all from deleted_rows',
  )
  return rows[0] as { most: number; all: number }
}
