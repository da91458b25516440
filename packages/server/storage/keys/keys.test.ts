import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { addKey, addTree, CREATED, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import { type Db, openDatabase, openPool } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import { findKey, lockKey, revokeKey, updateKey, updateKeysLastUsed } from './keys.ts'

const LATER = new Date(CREATED.getTime() + 60_000)
const AT = LATER.getTime()

describe.each(listTestServers())('keys on $label', server => {
  let database: FreshDatabase
  let db: Db
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(db)
  })

  test('are found with every field, also when they are revoked', async () => {
    const key = await addKey(db, tree.environment, {
      kind: 'publishable',
      publishable_cipher: Buffer.from('sealed'),
      allowed_models: ['openai/*'],
      allowed_endpoints: ['chat'],
      max_request_cost_nano_usd: 9_007_199_254_740_991,
      expires_at: LATER,
      revoked_at: LATER,
    })
    expect(await findKey(db, key.id)).toEqual(key)
  })

  test('keep the time of their first revocation', async () => {
    const key = await addKey(db, tree.environment)
    const revoked = { ...key, revoked_at: LATER, updated_at: LATER }
    expect(await revokeKey(db, key.id, LATER)).toEqual(revoked)
    expect(await revokeKey(db, key.id, new Date(AT + 1))).toEqual(revoked)
    await expect(revokeKey(db, newId(), LATER)).rejects.toThrow('no result')
  })

  test('change the given fields only', async () => {
    const key = await addKey(db, tree.environment, { allowed_models: ['a'] })
    const next = await addKey(db, tree.environment)
    const change = { rolled_to: next.id, expires_at: LATER, allowed_models: null }
    expect(await updateKey(db, key.id, change, LATER)).toEqual({ ...key, ...change, updated_at: LATER })
    await expect(updateKey(db, newId(), change, LATER)).rejects.toThrow('no result')
  })

  test('exist once in the whole database for one text', async () => {
    const { hash } = await addKey(db, tree.environment)
    const other = await addTree(db)
    const error = await addKey(db, other.environment, { hash }).catch(failure => failure)
    expect(isUniqueViolation(error, 'keys_hash_key')).toBe(true)
  })

  test('keep their state while they are locked, until the transaction ends', async () => {
    const { id } = await addKey(db, tree.environment)
    const pool = openPool(database.connection, () => {}, { max: 1 })
    const second = openDatabase(pool)
    try {
      let update: Promise<unknown> = Promise.resolve()
      await db.transaction().execute(async tx => {
        expect(await lockKey(tx, id)).toMatchObject({ id, name: 'key' })
        update = updateKey(second, id, { name: 'renamed' }, LATER)
        await untilLockWait(database.pool)
        expect((await findKey(tx, id))?.name).toBe('key')
      })
      await update
    } finally {
      await pool.end()
    }
    expect((await findKey(db, id))?.name).toBe('renamed')
    await expect(lockKey(db, newId())).rejects.toThrow('no result')
  })

  describe('their last use', () => {
    const lastUsed = async (id: string): Promise<number | undefined> =>
      (await findKey(db, id))?.last_used_at?.getTime()

    test('is stored for many keys at once, and ignores an unknown key', async () => {
      const [a, b] = [await addKey(db, tree.environment), await addKey(db, tree.environment)]
      const untouched = await addKey(db, tree.environment)
      const uses = new Map([
        [a.id, AT],
        [newId(), AT],
        [b.id, AT + 5],
      ])
      await updateKeysLastUsed(db, uses)
      expect([await lastUsed(a.id), await lastUsed(b.id), await lastUsed(untouched.id)]).toEqual([
        AT,
        AT + 5,
        undefined,
      ])
      expect((await findKey(db, a.id))?.updated_at).toEqual(CREATED)
    })

    test('is stored in the order of their ids, so that no two processes wait for each other', async () => {
      const [low, high] = [newId(), newId()].sort() as [string, string]
      // The higher one comes first in the table too, which the planner may read as a whole.
      for (const id of [high, low]) await addKey(db, tree.environment, { id, original_id: id })
      let storing: Promise<void> | undefined
      await db.transaction().execute(async tx => {
        await lockKey(tx, low)
        storing = updateKeysLastUsed(
          db,
          new Map([
            [high, AT],
            [low, AT],
          ]),
        )
        await untilLockWait(database.pool)
        const free = tx.selectFrom('keys').select('id').where('id', '=', high).forUpdate().skipLocked()
        expect(await free.execute()).toEqual([{ id: high }])
      })
      await storing
      expect([await lastUsed(low), await lastUsed(high)]).toEqual([AT, AT])
    })

    test('never moves back', async () => {
      const { id } = await addKey(db, tree.environment)
      for (const at of [AT, AT - 1000, AT + 1]) await updateKeysLastUsed(db, new Map([[id, at]]))
      expect(await lastUsed(id)).toBe(AT + 1)
      await updateKeysLastUsed(db, new Map([[id, AT]]))
      expect(await lastUsed(id)).toBe(AT + 1)
    })

    test('accepts an update for no key', async () => {
      await updateKeysLastUsed(db, new Map())
    })
  })
})
