import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { INSERT_POLICY } from '../../testing/harness/policies.ts'
import { addEndUser, addTree, CREATED, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import { findPlan, removePlan } from '../policies/plans.ts'
import type { Db } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import {
  blockEndUser,
  findEndUser,
  findEndUserId,
  listEndUsers,
  unblockEndUser,
  updateEndUser,
} from './end-users.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('end users on $label', server => {
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

  const addPlan = async (): Promise<{ id: string; name: string }> => {
    const id = newId()
    await INSERT_POLICY.plan(db, id, tree.environment)
    return { id, name: (await findPlan(db, id))?.name as string }
  }

  test('come with the name of their plan, found and listed', async () => {
    const plan = await addPlan()
    const id = await addEndUser(db, tree.environment, 'alice', { plan_id: plan.id })
    expect(await findEndUser(db, id)).toMatchObject({ external_id: 'alice', plan: plan.name })
    const other = await addEndUser(db, tree.environment, 'bob')
    const page = { limit: 10, after: undefined }
    const listed = (await listEndUsers(db, tree.environment.id, page)).map(row => [row.id, row.plan])
    expect(listed).toEqual(
      expect.arrayContaining([
        [id, plan.name],
        [other, null],
      ]),
    )
  })

  test('keep their row when their plan is removed', async () => {
    const plan = await addPlan()
    const id = await addEndUser(db, tree.environment, 'alice', { plan_id: plan.id })
    await removePlan(db, plan.id, LATER)
    expect(await findEndUser(db, id)).toMatchObject({ external_id: 'alice', plan: null })
  })

  test('have an external id that is unique in their environment only', async () => {
    const other = await addTree(db)
    const id = await addEndUser(db, tree.environment, 'alice')
    const theirs = await addEndUser(db, other.environment, 'alice')
    expect(await findEndUserId(db, tree.environment.id, 'alice')).toBe(id)
    expect(await findEndUserId(db, other.environment.id, 'alice')).toBe(theirs)
    expect(await findEndUserId(db, tree.environment.id, 'Alice')).toBeUndefined()
    const error = await addEndUser(db, tree.environment, 'alice').catch(failure => failure)
    expect(isUniqueViolation(error, 'end_users_external')).toBe(true)
  })

  test('keep the time of their first block, until they are unblocked', async () => {
    const id = await addEndUser(db, tree.environment, 'alice')
    await unblockEndUser(db, id, LATER)
    expect(await findEndUser(db, id)).toMatchObject({ blocked_at: null, updated_at: CREATED })
    await blockEndUser(db, id, LATER)
    await blockEndUser(db, id, new Date(LATER.getTime() + 1))
    expect(await findEndUser(db, id)).toMatchObject({ blocked_at: LATER, updated_at: LATER })
    await unblockEndUser(db, id, LATER)
    expect(await findEndUser(db, id)).toMatchObject({ blocked_at: null })
  })

  test('change the given fields only', async () => {
    const plan = await addPlan()
    const id = await addEndUser(db, tree.environment, 'alice', { blocked_at: CREATED })
    await updateEndUser(db, id, { attributes: '{"tier":1}', plan_id: plan.id }, LATER)
    expect(await findEndUser(db, id)).toMatchObject({
      external_id: 'alice',
      attributes: { tier: 1 },
      plan: plan.name,
      blocked_at: CREATED,
      updated_at: LATER,
    })
  })
})
