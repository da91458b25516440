import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { INSERT_POLICY } from '../../testing/harness/policies.ts'
import { addEndUser, addTree, CREATED, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import { findEndUser, listEndUsers } from '../end-users/end-users.ts'
import { findEnvironmentSnapshot } from '../snapshots/snapshots.ts'
import { listEndUserSnapshots } from '../snapshots/token-snapshots.ts'
import { clearDeletedPlans } from './deleted-plans.ts'
import { findPlan, removePlan, updatePlan } from './plans.ts'

const DELETED = new Date(CREATED.getTime() + 60_000)
/** More than two batches. */
const MANY = 2_501

describe.each(listTestServers())('deleted plans on $label', server => {
  let database: FreshDatabase
  let tree: Tree
  let planId: string
  beforeEach(async () => {
    database = await freshDatabase(server)
    tree = await addTree(database.db)
    planId = newId()
    await INSERT_POLICY.plan(database.db, planId, tree.environment)
    // Each statement that changes end users, with the number of its rows.
    await database.pool.query(`
      create table changes (end_users integer);
      create function note_change() returns trigger language plpgsql as $$
      begin insert into changes select count(*) from before; return null; end $$;
      create trigger note_change after update on end_users referencing old table as before
        for each statement execute function note_change()`)
  })
  afterEach(() => database.drop())

  const addMany = async (count: number): Promise<void> => {
    const { id, org_id, project_id } = tree.environment
    await database.pool.query(
      `insert into end_users (id, org_id, project_id, environment_id, external_id, plan_id, created_at, updated_at)
        select gen_random_uuid(), $1, $2, $3, 'user-' || n, $4,
          -- Some have the same time, and times are finer than a Date.
          $5::timestamptz + n / 10 * interval '7 microseconds', $5 from generate_series(1, $6::integer) as n`,
      [org_id, project_id, id, planId, CREATED, count],
    )
  }
  const listChanges = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ end_users: number }>('select end_users from changes')
    return rows.map(row => row.end_users)
  }
  const countNaming = async (): Promise<number> => {
    const text = 'select count(*) as count from end_users where plan_id = $1'
    return (await database.pool.query<{ count: number }>(text, [planId])).rows[0]?.count as number
  }
  const countPlans = async (): Promise<number> =>
    (await database.pool.query<{ count: number }>('select count(*) as count from plans')).rows[0]
      ?.count as number
  const remove = () => removePlan(database.db, planId, DELETED)

  test('change no end user at once, and then 1,000 in a statement at most', async () => {
    await addMany(MANY)
    expect(await remove()).toBe(true)
    expect(await listChanges()).toEqual([])
    expect(await clearDeletedPlans(database.pool)).toEqual({ removedPlans: 1, clearedEndUsers: MANY })
    // The last statement finds no more.
    expect(await listChanges()).toEqual([1_000, 1_000, 501, 0, 0])
    expect([await countNaming(), await countPlans()]).toEqual([0, 0])
  })

  test('stay for the next run where a signal ends this one, which changes no further batch', async () => {
    await addMany(MANY)
    await remove()
    const stopping = new AbortController()
    const { pool } = database
    let statements = 0
    const stoppingPool = {
      query: async (...query: Parameters<typeof pool.query>) => {
        const result = await pool.query(...query)
        if (++statements === 2) stopping.abort()
        return result
      },
    } as typeof pool
    const cleared = await clearDeletedPlans(stoppingPool, stopping.signal)
    expect(cleared).toEqual({ removedPlans: 0, clearedEndUsers: 1_000 })
    expect([await countNaming(), await countPlans()]).toEqual([MANY - 1_000, 1])
    expect(await clearDeletedPlans(pool)).toEqual({ removedPlans: 1, clearedEndUsers: MANY - 1_000 })
  })

  test('leave an end user that is locked to the next run, and do not wait for it', async () => {
    await addMany(20)
    await remove()
    const other = await database.pool.connect()
    await other.query('begin')
    await other.query(`select from end_users where external_id = 'user-7' for update`)
    expect(await clearDeletedPlans(database.pool)).toEqual({ removedPlans: 0, clearedEndUsers: 19 })
    await other.query('rollback')
    other.release()
    expect(await clearDeletedPlans(database.pool)).toEqual({ removedPlans: 1, clearedEndUsers: 1 })
  })

  test('of two runs at once each end user is changed by one', async () => {
    await addMany(MANY)
    await remove()
    const runs = await Promise.all([1, 2].map(() => clearDeletedPlans(database.pool)))
    await clearDeletedPlans(database.pool)
    expect(runs.reduce((sum, run) => sum + run.clearedEndUsers, 0)).toBe(MANY)
    expect([await countNaming(), await countPlans()]).toEqual([0, 0])
  })

  test('are no plan any more: they are not found, cannot be changed and do not count as deleted again', async () => {
    await remove()
    expect(await findPlan(database.db, planId)).toBeUndefined()
    expect(await updatePlan(database.db, planId, { is_default: true }, DELETED)).toBeUndefined()
    expect(await remove()).toBe(false)
  })

  test('leave other plans and their end users alone', async () => {
    const kept = newId()
    await INSERT_POLICY.plan(database.db, kept, tree.environment)
    const id = await addEndUser(database.db, tree.environment, 'alice', { plan_id: kept })
    await remove()
    await clearDeletedPlans(database.pool)
    expect((await findEndUser(database.db, id))?.plan_id).toBe(kept)
  })

  test('an end user reads the same before and after it is cleared: without a plan', async () => {
    const { db, pool } = database
    const { environment } = tree
    const box = openSecretBox(Buffer.alloc(32, 1), systemRandom)
    const name = (await findPlan(db, planId))?.name as string
    const id = await addEndUser(db, environment, 'alice', { plan_id: planId })
    const read = async () => {
      const snapshot = await findEnvironmentSnapshot(pool, box, environment.id)
      const page = { limit: 10, after: undefined }
      const { plan_id: _, ...row } = (await findEndUser(db, id)) ?? {}
      return {
        row,
        ofPlan: await listEndUsers(db, environment.id, page, { plan: name }),
        gateway: await listEndUserSnapshots(pool, [{ environmentId: environment.id, id: 'alice' }]),
        plans: snapshot?.policies.plans,
        hasSpecial: snapshot?.policies.hasSpecialEndUsers,
      }
    }
    expect(await read()).toMatchObject({ gateway: [{ plan: name }], plans: [{ name }], hasSpecial: true })
    await remove()
    const between = await read()
    expect(between).toMatchObject({
      row: { plan: null, updated_at: CREATED },
      ofPlan: [],
      gateway: [{ id: 'alice', plan: null, isBlocked: false }],
      plans: [],
      hasSpecial: false,
    })
    await clearDeletedPlans(pool)
    expect(await read()).toEqual(between)
    expect(await findEndUser(db, id)).toMatchObject({ plan_id: null })
  })
})
