import type { Insertable, Selectable } from 'kysely'
import type { Db } from './pool.ts'
import type { Database } from './schema.ts'

/** The tables of which a project has at most one row. */
type ProjectTable = 'device_auth' | 'federated_auth'

/** Returns the statements on a table of which a project has at most one row. */
export function defineProjectTable<Name extends ProjectTable>(name: Name) {
  type Row = Selectable<Database[Name]>
  // Checked against one of the tables, as in table.ts.
  const table = name as 'device_auth'

  return {
    async find(db: Db, projectId: string): Promise<Row | undefined> {
      const query = db.selectFrom(table).selectAll().where('project_id', '=', projectId)
      return (await query.executeTakeFirst()) as Row | undefined
    },

    /** Inserts the project's row, or replaces all of it except `created_at`. Returns the stored row. */
    async upsert(db: Db, row: Insertable<Database[Name]>): Promise<Row> {
      const values = row as Insertable<Database['device_auth']>
      const { project_id: _, created_at: __, ...replaced } = values
      const query = db
        .insertInto(table)
        .values(values)
        .onConflict(conflict => conflict.column('project_id').doUpdateSet(replaced))
      return (await query.returningAll().executeTakeFirstOrThrow()) as Row
    },

    /** Returns the removed row; undefined if the project had none. */
    async remove(db: Db, projectId: string): Promise<Row | undefined> {
      const query = db.deleteFrom(table).where('project_id', '=', projectId).returningAll()
      return (await query.executeTakeFirst()) as Row | undefined
    },
  }
}
