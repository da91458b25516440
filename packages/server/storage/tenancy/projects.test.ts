import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { addOrganization, addProject, CREATED, newId } from '../../testing/harness/storage-rows.ts'
import type { Db } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import { findProject, isProjectSlugTaken, listProjects, removeProject, updateProject } from './projects.ts'

const LATER = new Date(CREATED.getTime() + 60_000)

describe.each(listTestServers())('projects on $label', server => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())

  test('are neither found nor listed once they are deleted, and keep the time of the first deletion', async () => {
    const organization = await addOrganization(db)
    const [kept, deleted] = [await addProject(db, organization), await addProject(db, organization)]
    await removeProject(db, deleted.id, LATER)
    await removeProject(db, deleted.id, new Date(LATER.getTime() + 1))
    expect(await findProject(db, deleted.id)).toBeUndefined()
    const page = { limit: 10, after: undefined }
    expect(await listProjects(db, organization.id, page)).toEqual([kept])
    const query = db.selectFrom('projects').select('deleted_at').where('id', '=', deleted.id)
    expect(await query.executeTakeFirst()).toEqual({ deleted_at: LATER })
  })

  test('have a slug that no other living project of their organization has', async () => {
    const [ours, theirs] = [await addOrganization(db), await addOrganization(db)]
    const { id } = await addProject(db, ours, { slug: 'app' })
    await addProject(db, theirs, { slug: 'app' })
    expect(await isProjectSlugTaken(db, ours.id, 'app')).toBe(true)
    expect(await isProjectSlugTaken(db, ours.id, 'other')).toBe(false)
    const error = await addProject(db, ours, { slug: 'app' }).catch(failure => failure)
    expect(isUniqueViolation(error, 'projects_slug')).toBe(true)
    await removeProject(db, id, LATER)
    expect(await isProjectSlugTaken(db, ours.id, 'app')).toBe(false)
    await addProject(db, ours, { slug: 'app' })
  })

  test('change the given fields only', async () => {
    const project = await addProject(db, await addOrganization(db))
    const change = { allowed_origins: ['https://a.example', 'https://b.example'] }
    expect(await updateProject(db, project.id, change, LATER)).toEqual({
      ...project,
      ...change,
      updated_at: LATER,
    })
    await expect(updateProject(db, newId(), change, LATER)).rejects.toThrow('no result')
  })
})
