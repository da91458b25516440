import { sql } from 'kysely'
import type { SecretBox } from '../../core/access/secret-box.ts'
import type { Db } from '../pool.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'

const BATCH_ROWS = 100
/** The rows of a batch for a column whose values may have megabytes. */
const LARGE_BATCH_ROWS = 8

interface SealedRow {
  id: string
  sealed: Buffer
}

/**
 * Encrypts secrets of a column that are under another master key with the box's current one: a batch, in one
 * transaction. Skips rows that another transaction has locked. Returns how many it encrypted, and the id to continue
 * after; undefined at the end of the column. Throws SecretBoxError, and changes nothing, if a secret cannot be decrypted.
 */
export async function resealBatch(
  db: Db,
  column: SealedColumn,
  box: SecretBox,
  after: string | undefined,
): Promise<{ readonly count: number; readonly lastId: string | undefined }> {
  const batchRows = column.isLarge === true ? LARGE_BATCH_ROWS : BATCH_ROWS
  const [table, cipher, id] = [sql.table(column.table), sql.ref(column.column), sql.ref(column.id)]
  return await db.transaction().execute(async tx => {
    const { rows } = await sql<SealedRow>`
      select ${id} as id, ${cipher} as sealed from ${table}
      where ${isOfAnotherKey(column, box)} and (${after ?? null}::uuid is null or ${id} > ${after ?? null})
      order by ${id} limit ${batchRows} for update skip locked`.execute(tx)
    for (const row of rows) {
      const context = `${column.context ?? column.table}:${row.id}`
      const plaintext = box.openBytes(row.sealed, context)
      const fingerprint =
        column.fingerprint === undefined || plaintext.length === 0
          ? sql``
          : sql`, ${sql.ref(column.fingerprint)} = ${box.fingerprint(plaintext.toString('utf8'))}`
      await sql`update ${table} set ${cipher} = ${box.seal(plaintext, context)}${fingerprint}
        where ${id} = ${row.id}`.execute(tx)
    }
    return { count: rows.length, lastId: rows.length < batchRows ? undefined : rows.at(-1)?.id }
  })
}

/**
 * Retires the previous master keys, named by their ids, and returns true; returns false, and changes nothing, if a secret
 * is still encrypted under another key than the box's current one. From then on the database rejects secrets that are
 * encrypted under a retired key (migrations/0001-initial/master-key-guard.ts).
 */
export async function retireMasterKeys(
  db: Db,
  box: SecretBox,
  previous: readonly string[],
  now: Date,
): Promise<boolean> {
  return await db.transaction().execute(async tx => {
    // The lock waits for running writers and blocks new ones, so that every secret is either checked below or rejected.
    const tables = sql.join(SEALED_COLUMNS.map(({ table }) => sql.table(table)))
    await sql`lock table ${tables} in share row exclusive mode`.execute(tx)
    for (const column of SEALED_COLUMNS) {
      const { rows } = await sql`select from ${sql.table(column.table)}
        where ${isOfAnotherKey(column, box)} limit 1`.execute(tx)
      if (rows.length > 0) return false
    }
    for (const keyId of previous) {
      await tx
        .insertInto('retired_master_keys')
        .values({ key_id: Buffer.from(keyId, 'hex'), retired_at: now })
        .onConflict(conflict => conflict.doNothing())
        .execute()
    }
    return true
  })
}

/** Lets the database accept a retired master key again. */
export async function reinstateMasterKey(db: Db, keyId: string): Promise<void> {
  await db.deleteFrom('retired_master_keys').where('key_id', '=', Buffer.from(keyId, 'hex')).execute()
}

/** True for secrets under another key than the current one. The key's id follows the version byte (core/access/secret-box.ts). */
function isOfAnotherKey({ column }: SealedColumn, box: SecretBox) {
  const current = Buffer.from(box.keyId, 'hex')
  return sql<boolean>`substring(${sql.ref(column)} from 2 for 8) <> ${current}`
}
