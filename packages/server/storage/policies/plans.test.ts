import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { INSERT_POLICY } from '../../testing/harness/policies.ts'
import { addTree, CREATED, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import type { Db } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import { clearDefaultPlan, findPlan, findPlanByName, updatePlan } from './plans.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('plans on $label', server => {
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

  const addPlan = async (environment = tree.environment): Promise<string> => {
    const id = newId()
    await INSERT_POLICY.plan(db, id, environment)
    return id
  }
  const setDefault = (id: string): Promise<unknown> =>
    db.transaction().execute(async tx => {
      await clearDefaultPlan(tx, tree.environment.id, LATER)
      await updatePlan(tx, id, { is_default: true }, LATER)
    })

  test('have a name that no other plan of their environment has', async () => {
    const [first, second] = [await addPlan(), await addPlan()]
    await updatePlan(db, first, { name: 'pro' }, LATER)
    const error = await updatePlan(db, second, { name: 'pro' }, LATER).catch(failure => failure)
    expect(isUniqueViolation(error, 'plans_name')).toBe(true)
    const other = await addTree(db)
    await updatePlan(db, await addPlan(other.environment), { name: 'pro' }, LATER)
    expect(await findPlanByName(db, tree.environment.id, 'pro')).toMatchObject({ id: first })
    expect(await findPlanByName(db, tree.environment.id, 'Pro')).toBeUndefined()
  })

  test('include one default plan after three transactions have each set another one', async () => {
    const ids = [await addPlan(), await addPlan(), await addPlan()]
    await Promise.all(ids.map(setDefault))
    const query = db.selectFrom('plans').select('id').where('is_default', '=', true).where('id', 'in', ids)
    expect(await query.execute()).toHaveLength(1)
  })

  test('keep the default of other environments', async () => {
    const other = await addTree(db)
    const theirs = await addPlan(other.environment)
    await updatePlan(db, theirs, { is_default: true }, LATER)
    await setDefault(await addPlan())
    expect(await findPlan(db, theirs)).toMatchObject({ is_default: true })
  })

  test('return undefined from an update once they are removed', async () => {
    expect(await updatePlan(db, newId(), { name: 'x' }, LATER)).toBeUndefined()
  })
})
