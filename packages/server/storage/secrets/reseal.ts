import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import type { SecretBox } from '../../core/access/secret-box.ts'
import type { Db } from '../pool.ts'
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts'

const BATCH_ROWS = 100
/** The rows of a batch for a column whose values may have megabytes. */
const LARGE_BATCH_ROWS = 8
/** Rows that one statement looks at: a table may have millions, and most of them nothing to encrypt. */
const SCAN_ROWS = 5_000
const LOCK_NOT_AVAILABLE = '55P03'

interface SealedRow {
  id: string
  sealed: Buffer
}

/**
 * Encrypts secrets of a column that are under another master key with the box's current one: a batch, in one
 * transaction, among the next rows of the table. Skips rows that another transaction has locked. Returns how many it encrypted, and
 * the id to continue after; undefined at the end of the column. Throws SecretBoxError, and changes nothing, if a secret cannot be decrypted.
 */
export async function resealBatch(
  db: Db,
  column: SealedColumn,
  box: SecretBox,
  after: string | undefined,
): Promise<{ readonly count: number; readonly lastId: string | undefined }> {
  const batchRows = column.isLarge === true ? LARGE_BATCH_ROWS : BATCH_ROWS
  const [table, cipher, id] = [sql.table(column.table), sql.ref(column.column), sql.ref(column.id)]
  const end = await findEnd(db, column, after)
  return await db.transaction().execute(async tx => {
    const { rows } = await sql<SealedRow>`
      select ${id} as id, ${cipher} as sealed from ${table}
      where ${isOfAnotherKey(column, box)} and ${isBetween(column, after, end)}
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
    return { count: rows.length, lastId: rows.length < batchRows ? end : rows.at(-1)?.id }
  })
}

/**
 * Retires the previous master keys, named by their ids: from now on the database rejects secrets that are encrypted under them
 * (migrations/0001-initial/master-key-guard.ts). Returns true once no transaction runs that may have stored one before; false if one
 * runs for so long that it cannot be waited for. Call it again then.
 */
export async function retireMasterKeys(db: Db, previous: readonly string[], now: Date): Promise<boolean> {
  for (const keyId of previous) {
    await db
      .insertInto('retired_master_keys')
      .values({ key_id: Buffer.from(keyId, 'hex'), retired_at: now })
      .onConflict(conflict => conflict.doNothing())
      .execute()
  }
  for (const table of new Set(SEALED_COLUMNS.map(column => column.table))) {
    if (!(await waitForWriters(db, table))) return false
  }
  return true
}

/** Resolves with true once all transactions have ended that wrote to the table before the call, with false after two seconds. */
async function waitForWriters(db: Db, table: string): Promise<boolean> {
  try {
    await db.transaction().execute(async tx => {
      // Later writers wait as long as this does.
      await sql`set local lock_timeout = '2s'`.execute(tx)
      await sql`lock table ${sql.table(table)} in share mode`.execute(tx)
    })
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}

/** True if every secret is encrypted under the box's current key, also those in rows that another transaction has locked. */
export async function isAllResealed(db: Db, box: SecretBox): Promise<boolean> {
  for (const column of SEALED_COLUMNS) {
    let after: string | undefined
    do {
      const end = await findEnd(db, column, after)
      const { rows } = await sql`select from ${sql.table(column.table)}
        where ${isOfAnotherKey(column, box)} and ${isBetween(column, after, end)} limit 1`.execute(db)
      if (rows.length > 0) return false
      after = end
    } while (after !== undefined)
  }
  return true
}

/** The id of the last of the next rows that a statement looks at; undefined: they are the last ones. */
async function findEnd(
  db: Db,
  { table, id }: SealedColumn,
  after: string | undefined,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(id)} as id from ${sql.table(table)} where ${isBetween({ id }, after, undefined)}
    order by ${sql.ref(id)} offset ${SCAN_ROWS - 1} limit 1`.execute(db)
  return rows[0]?.id
}

function isBetween({ id }: Pick<SealedColumn, 'id'>, after: string | undefined, end: string | undefined) {
  const begins = after === undefined ? sql<boolean>`true` : sql<boolean>`${sql.ref(id)} > ${after}`
  return end === undefined ? begins : sql<boolean>`${begins} and ${sql.ref(id)} <= ${end}`
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
