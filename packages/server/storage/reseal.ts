import { sql } from 'kysely'
import type { SecretBox } from '../core/secret-box.ts'
import type { Db } from './pool.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'

const BATCH = 100

interface SealedRow {
  id: string
  sealed: Buffer
}

/**
 * Seals under the box's current key what is sealed under another one: a batch of one column, in one transaction. Rows
 * that somebody else holds are passed by. Gives the last id it saw; undefined: the column's end. Throws SecretBoxError
 * where a secret does not open, and changes nothing then.
 */
export async function resealBatch(
  db: Db,
  column: SealedColumn,
  box: SecretBox,
  after: string | undefined,
): Promise<{ readonly count: number; readonly lastId: string | undefined }> {
  const [table, cipher, id] = [sql.table(column.table), sql.ref(column.column), sql.ref(column.id)]
  return await db.transaction().execute(async tx => {
    const { rows } = await sql<SealedRow>`
      select ${id} as id, ${cipher} as sealed from ${table}
      where ${isOfAnotherKey(column, box)} and (${after ?? null}::uuid is null or ${id} > ${after ?? null})
      order by ${id} limit ${BATCH} for update skip locked`.execute(tx)
    for (const row of rows) {
      const context = `${column.table}:${row.id}`
      const plaintext = box.open(row.sealed, context)
      const mark =
        column.fingerprint === undefined || plaintext === ''
          ? sql``
          : sql`, ${sql.ref(column.fingerprint)} = ${box.fingerprint(plaintext)}`
      await sql`update ${table} set ${cipher} = ${box.seal(plaintext, context)}${mark}
        where ${id} = ${row.id}`.execute(tx)
    }
    return { count: rows.length, lastId: rows.length < BATCH ? undefined : rows.at(-1)?.id }
  })
}

/**
 * Ends all master keys but the box's current one, unless something is still sealed under another: false then. From
 * here on the database refuses what anybody seals under `former`, so that nothing can be written which nobody will be
 * able to read.
 */
export async function retireMasterKeys(
  db: Db,
  box: SecretBox,
  former: readonly string[],
  now: Date,
): Promise<boolean> {
  return await db.transaction().execute(async tx => {
    // Waits for writers, and holds new ones off for the moment: what they write is seen below or refused after.
    const tables = sql.join(SEALED_COLUMNS.map(({ table }) => sql.table(table)))
    await sql`lock table ${tables} in share row exclusive mode`.execute(tx)
    for (const column of SEALED_COLUMNS) {
      const { rows } = await sql`select from ${sql.table(column.table)}
        where ${isOfAnotherKey(column, box)} limit 1`.execute(tx)
      if (rows.length > 0) return false
    }
    for (const keyId of former) {
      await tx
        .insertInto('retired_master_keys')
        .values({ key_id: Buffer.from(keyId, 'hex'), retired_at: now })
        .onConflict(conflict => conflict.doNothing())
        .execute()
    }
    return true
  })
}

/** A key that was rotated out may come back. */
export async function reinstateMasterKey(db: Db, keyId: string): Promise<void> {
  await db.deleteFrom('retired_master_keys').where('key_id', '=', Buffer.from(keyId, 'hex')).execute()
}

/** The key's id stands behind the version byte; see core/secret-box.ts. */
function isOfAnotherKey({ column }: SealedColumn, box: SecretBox) {
  const current = Buffer.from(box.keyId, 'hex')
  return sql<boolean>`substring(${sql.ref(column)} from 2 for 8) <> ${current}`
}
