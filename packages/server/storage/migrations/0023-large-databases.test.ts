import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase } from '../../testing/harness/database.ts'
import { addEndUser, addTree, CREATED, newId } from '../../testing/harness/storage-rows.ts'
import { listEndUsers } from '../end-users/end-users.ts'
import { migrateDatabase } from '../migrate.ts'
import { clearDeletedPlans } from '../policies/deleted-plans.ts'
import { listPlans, removePlan } from '../policies/plans.ts'
import { largeDatabases } from './0023-large-databases.ts'
import { MIGRATIONS } from './index.ts'

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

test('plans from before keep their end users and can be deleted, and the migration may run again', async () => {
  database = await emptyDatabase()
  const { connection, db, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0023')
  await migrateDatabase(connection, () => {}, before)
  const { organization, project, environment } = await addTree(db)
  const planId = newId()
  await pool.query(
    `insert into plans (id, org_id, project_id, environment_id, name, is_default, created_at, updated_at)
      values ($1, $2, $3, $4, 'free', true, $5, $5)`,
    [planId, organization.id, project.id, environment.id, CREATED],
  )
  const id = await addEndUser(db, environment, 'ann', { plan_id: planId })
  await migrateDatabase(connection, () => {})
  await pool.query(largeDatabases)
  const page = { limit: 10, after: undefined }
  const list = () => listEndUsers(db, environment.id, page, { plan: 'free' })
  expect(await list()).toMatchObject([{ id, plan: 'free' }])
  expect(await listPlans(db, environment.id, page)).toMatchObject([{ id: planId, is_default: true }])
  await removePlan(db, planId, CREATED)
  expect([await list(), await listPlans(db, environment.id, page)]).toEqual([[], []])
  expect(await clearDeletedPlans(pool)).toEqual({ removedPlans: 1, clearedEndUsers: 1 })
})
