import type { Insertable, RawBuilder, Selectable, Updateable } from 'kysely'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { Database } from './schema.ts'

/** The tables whose rows have an id, a creation time and the time of the last change. */
type RecordTable = {
  [Name in keyof Database]: Selectable<Database[Name]> extends {
    readonly id: string
    readonly created_at: Date
    readonly updated_at: Date
  }
    ? Name
    : never
}[keyof Database]

/** Columns and their values, all of which a row must have. */
type Match<Row> = { readonly [Column in keyof Row]?: Row[Column] & (string | boolean | null) }

/** The names of the columns whose time is set once and then stays: `revoked_at`, `deleted_at`. */
type OnceColumn<Row> = {
  [Column in keyof Row]-?: null extends Row[Column] ? (Date extends Row[Column] ? Column : never) : never
}[keyof Row]

/**
 * Returns the statements that every table of records has. A table's file exports them under its own names and adds what
 * only that table needs. `isLive` is the condition of rows that `find` returns (live-owner.ts).
 */
export function defineTable<Name extends RecordTable>(
  name: Name,
  isLive: (table: string) => RawBuilder<boolean>,
) {
  type Row = Selectable<Database[Name]>
  // Kysely cannot check a query whose table is a type parameter. The queries use only columns that all these tables have,
  // so they are checked against one of them, and the types below describe the table itself.
  const table = name as 'projects'

  function matching(db: Db, match: Match<Row>) {
    const columns = Object.entries(match) as ['id', string | null][]
    return columns.reduce(
      (query, [column, value]) => query.where(column, value === null ? 'is' : '=', value),
      db.selectFrom(table),
    )
  }

  return {
    /** Returns the row as stored. */
    async insert(db: Db, row: Insertable<Database[Name]>): Promise<Row> {
      const values = row as Insertable<Database['projects']>
      return (await db.insertInto(table).values(values).returningAll().executeTakeFirstOrThrow()) as Row
    },

    /** Returns the row; undefined if it does not exist, or its owner is deleted. */
    async find(db: Db, id: string): Promise<Row | undefined> {
      const query = db.selectFrom(table).selectAll().where('id', '=', id).where(isLive(table))
      return (await query.executeTakeFirst()) as Row | undefined
    },

    /** Returns the row and locks it until the transaction ends; undefined if it does not exist. */
    async lock(tx: Db, id: string): Promise<Row | undefined> {
      const query = tx.selectFrom(table).selectAll().where('id', '=', id).forUpdate()
      return (await query.executeTakeFirst()) as Row | undefined
    },

    /** Returns the row, also one whose owner is deleted. Throws if it does not exist. */
    async get(db: Db, id: string): Promise<Row> {
      const query = db.selectFrom(table).selectAll().where('id', '=', id)
      return (await query.executeTakeFirstOrThrow()) as Row
    },

    /** Returns a row with these values; undefined if there is none. */
    async findMatch(db: Db, match: Match<Row>): Promise<Row | undefined> {
      return (await matching(db, match).selectAll().executeTakeFirst()) as Row | undefined
    },

    /** True if a row has these values. */
    async exists(db: Db, match: Match<Row>): Promise<boolean> {
      return (await matching(db, match).select('id').limit(1).executeTakeFirst()) !== undefined
    },

    /** Returns the function that lists, newest first, the rows with an id in this column and with these other values. */
    listBy(column: keyof Row & `${string}id`, others: Match<Row> = {}) {
      return async (db: Db, id: string, page: Page): Promise<Row[]> => {
        const query = matching(db, { [column]: id, ...others } as Match<Row>).selectAll()
        return (await selectPage(query, page, 'created_at', 'id').execute()) as Row[]
      }
    },

    /** Changes the fields that are present. Returns the changed row; undefined if it was removed in the meantime. */
    async update(
      db: Db,
      id: string,
      change: Updateable<Database[Name]>,
      now: Date,
    ): Promise<Row | undefined> {
      const set = { ...change, updated_at: now }
      const query = db.updateTable(table).set(set).where('id', '=', id).returningAll()
      return (await query.executeTakeFirst()) as Row | undefined
    },

    /** Changes the fields of a row that is never removed. Returns the changed row. Throws if there is none. */
    async updateExisting(db: Db, id: string, change: Updateable<Database[Name]>, now: Date): Promise<Row> {
      const set = { ...change, updated_at: now }
      const query = db.updateTable(table).set(set).where('id', '=', id).returningAll()
      return (await query.executeTakeFirstOrThrow()) as Row
    },

    /**
     * Sets the column to the time. A time that was set before stays: revoking a key again keeps the first time. Returns false then, or if
     * there is no such row.
     */
    async setTimeOnce(db: Db, id: string, column: OnceColumn<Row>, now: Date): Promise<boolean> {
      const time = column as 'deleted_at'
      const set = { [time]: now, updated_at: now }
      const query = db
        .updateTable(table)
        .set(set)
        .where('id', '=', id)
        .where(time, 'is', null)
        .returning('id')
      return (await query.executeTakeFirst()) !== undefined
    },

    /** Returns false if there is no such row, for example because it was removed in the meantime. */
    async remove(db: Db, id: string): Promise<boolean> {
      const query = db.deleteFrom(table).where('id', '=', id).returning('id')
      return (await query.executeTakeFirst()) !== undefined
    },
  }
}
