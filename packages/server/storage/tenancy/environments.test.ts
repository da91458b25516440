import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { addEnvironment, addTree, CREATED, newId } from '../../testing/harness/storage-rows.ts'
import type { Db } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import { findEnvironment, listEnvironments, updateEnvironment } from './environments.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('environments on $label', server => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())

  test('are found and listed by their project, newest first', async () => {
    const { project, environment } = await addTree(db)
    const production = await addEnvironment(db, project, { name: 'production', created_at: LATER })
    expect(await findEnvironment(db, environment.id)).toEqual(environment)
    const first = await listEnvironments(db, project.id, { limit: 1, after: undefined })
    expect(first).toEqual([production])
    const after = { at: LATER, id: production.id }
    expect(await listEnvironments(db, project.id, { limit: 1, after })).toEqual([environment])
  })

  test('are not found once their project or organization is deleted', async () => {
    for (const owner of ['project', 'organization'] as const) {
      const tree = await addTree(db)
      const table = `${owner}s` as const
      await db.updateTable(table).set({ deleted_at: LATER }).where('id', '=', tree[owner].id).execute()
      expect(await findEnvironment(db, tree.environment.id)).toBeUndefined()
    }
  })

  test('change the given fields only', async () => {
    const { environment } = await addTree(db)
    const change = { allowed_models: ['openai/*'], log_retention_days: 365, log_capture: 'metadata' } as const
    const expected = { ...environment, ...change, updated_at: LATER }
    const updated = await updateEnvironment(
      db,
      environment.id,
      { ...change, allowed_models: ['openai/*'] },
      LATER,
    )
    expect(updated).toEqual(expected)
    await expect(updateEnvironment(db, newId(), {}, LATER)).rejects.toThrow('no result')
  })

  test('have a name that no other environment of their project has', async () => {
    const { project } = await addTree(db)
    const error = await addEnvironment(db, project).catch(failure => failure)
    expect(isUniqueViolation(error, 'environments_project_id_name_key')).toBe(true)
  })

  test.each([
    ['log_retention_days', 0],
    ['log_retention_days', 366],
    ['log_capture', 'everything'],
    ['unsupported_params', 'ignore'],
    ['on_client_gone', 'abort'],
    ['name', 'staging'],
  ])('the database rejects %s = %s', async (column, value) => {
    const { project } = await addTree(db)
    const insert = addEnvironment(db, project, { name: 'production', [column]: value })
    await expect(insert).rejects.toMatchObject({ code: '23514', table: 'environments' })
  })
})
