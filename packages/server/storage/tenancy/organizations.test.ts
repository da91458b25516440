import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { addOrganization, CREATED, newId } from '../../testing/harness/storage-rows.ts'
import { type Db, openDatabase, openPool } from '../pool.ts'
import { isUniqueViolation } from '../unique-violation.ts'
import {
  findOrganization,
  isOrganizationSlugTaken,
  listOrganizations,
  lockOrganization,
  removeOrganization,
  updateOrganization,
} from './organizations.ts'

const LATER = new Date(CREATED.getTime() + 60_000)
const FIRST_PAGE = { limit: 10, after: undefined }

describe.each(listTestServers())('organizations on $label', server => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())

  test('are found until they are deleted', async () => {
    const organization = await addOrganization(db)
    expect(await findOrganization(db, organization.id)).toEqual(organization)
    await removeOrganization(db, organization.id, LATER)
    expect(await findOrganization(db, organization.id)).toBeUndefined()
    expect(await findOrganization(db, newId())).toBeUndefined()
  })

  test('keep their row when they are deleted, with the time of the first deletion', async () => {
    const { id } = await addOrganization(db)
    await removeOrganization(db, id, LATER)
    await removeOrganization(db, id, new Date(LATER.getTime() + 1))
    const row = await db
      .selectFrom('organizations')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ deleted_at: LATER, updated_at: LATER })
  })

  test('are listed by id only, newest first, without deleted ones', async () => {
    const older = await addOrganization(db)
    const newer = await addOrganization(db, { created_at: LATER })
    const deleted = await addOrganization(db, { deleted_at: LATER })
    await addOrganization(db)
    const ids = [older.id, newer.id, deleted.id]
    expect((await listOrganizations(db, ids, FIRST_PAGE)).map(({ id }) => id)).toEqual([newer.id, older.id])
    expect(await listOrganizations(db, [], FIRST_PAGE)).toEqual([])
  })

  test('have a slug that no other living organization has', async () => {
    const slug = `slug-${newId()}`
    const { id } = await addOrganization(db, { slug })
    expect(await isOrganizationSlugTaken(db, slug)).toBe(true)
    expect(await isOrganizationSlugTaken(db, `${slug}-2`)).toBe(false)
    const error = await addOrganization(db, { slug }).catch(failure => failure)
    expect(isUniqueViolation(error, 'organizations_slug')).toBe(true)
    expect(isUniqueViolation(error, 'projects_slug')).toBe(false)
    await removeOrganization(db, id, LATER)
    expect(await isOrganizationSlugTaken(db, slug)).toBe(false)
    await addOrganization(db, { slug })
  })

  test('change the given fields only', async () => {
    const organization = await addOrganization(db)
    const changed = await updateOrganization(db, organization.id, { time_zone: 'Asia/Tokyo' }, LATER)
    expect(changed).toEqual({ ...organization, time_zone: 'Asia/Tokyo', updated_at: LATER })
    await expect(updateOrganization(db, newId(), { name: 'x' }, LATER)).rejects.toThrow('no result')
  })

  test('are locked by one transaction at a time', async () => {
    const { id } = await addOrganization(db)
    const pool = openPool(database.connection, () => {}, { max: 1 })
    const second = openDatabase(pool)
    const order: string[] = []
    let blocked: Promise<void> | undefined
    try {
      await db.transaction().execute(async tx => {
        await lockOrganization(tx, id)
        blocked = second.transaction().execute(async other => {
          await lockOrganization(other, id)
          order.push('second')
        })
        await untilLockWait(database.pool)
        order.push('first')
      })
      await blocked
    } finally {
      await pool.end()
    }
    expect(order).toEqual(['first', 'second'])
  })
})
