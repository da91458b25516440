import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../core/chance.ts'
import { openIds } from '../core/ids.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { INSERT_POLICY, putProjectAuth } from '../testing/harness/policies.ts'
import { type SeededEnvironment, seedEnvironment } from '../testing/harness/seed-environment.ts'
import { type Announcements, openAnnouncements } from './announcements.ts'
import { findEnvironment } from './environments.ts'
import type { EnvironmentRow } from './schema.ts'

const newId = openIds(systemClock, systemRandom)

describe.each(listTestServers())('policies on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  let environment: EnvironmentRow
  let announcements: Announcements
  let told: string[]
  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
    // Of the same organization, but of another project.
    await database.pool.query(
      `with sibling as (
        insert into projects select gen_random_uuid(), org_id, name, 'sibling', allowed_origins, created_at, updated_at
        from projects returning *
      ) insert into environments select gen_random_uuid(), s.org_id, s.id, e.name, e.is_default, e.log_retention_days,
        e.log_capture, e.allowed_models, e.unsupported_params, e.on_client_gone, e.allow_client_passthrough,
        e.allow_secret_key_in_browser, e.created_at, e.updated_at from environments e, sibling s`,
    )
    environment = (await findEnvironment(database.db, seeded.environmentId)) as EnvironmentRow
    told = []
    announcements = await openAnnouncements({
      connection: database.connection,
      log: () => {},
      onChange: id => told.push(id),
      onLost: () => {},
      onRestored: () => {},
    })
  })
  afterEach(async () => {
    await announcements.close()
    await database.drop()
  })

  /** The environments that a statement announces: its own, or its own and its sibling. */
  const announced = async (statement: string | (() => Promise<unknown>)): Promise<string> => {
    await announcements.barrier()
    told.length = 0
    await (typeof statement === 'string' ? database.pool.query(statement) : statement())
    await announcements.barrier()
    const others = told.filter(id => id !== environment.id).length
    return `${told.length - others} own, ${others} other`
  }

  test.each(['limit', 'quota', 'plan'] as const)('a %s announces its environment alone', async kind => {
    const insert = () => INSERT_POLICY[kind](database.db, newId(), environment)
    expect(await announced(insert)).toBe('1 own, 0 other')
    expect(await announced(`update ${kind}s set updated_at = now()`)).toBe('1 own, 0 other')
    expect(await announced(`delete from ${kind}s`)).toBe('1 own, 0 other')
  })

  test("a project's budget and auth announce the project's environments", async () => {
    const insert = () => INSERT_POLICY.budget(database.db, newId(), environment)
    expect(await announced(insert)).toBe('1 own, 0 other')
    expect(await announced('delete from budgets')).toBe('1 own, 0 other')
    expect(await announced(() => putProjectAuth(database.db, environment))).toBe('2 own, 0 other')
    expect(await announced('delete from federated_auth')).toBe('1 own, 0 other')
    expect(await announced('delete from device_auth')).toBe('1 own, 0 other')
  })

  test("an organization's budget and limit announce all of its environments", async () => {
    await INSERT_POLICY.budget(database.db, newId(), environment)
    await INSERT_POLICY.limit(database.db, newId(), environment)
    expect(await announced('update budgets set project_id = null')).toBe('1 own, 1 other')
    expect(await announced('update limits set project_id = null, environment_id = null')).toBe(
      '1 own, 1 other',
    )
    expect(await announced('delete from limits')).toBe('1 own, 1 other')
  })

  test('an end user announces what counts at the gateway: its plan, its block, its name', async () => {
    const insert = () => INSERT_POLICY.end_user(database.db, newId(), environment)
    expect(await announced(insert)).toBe('0 own, 0 other')
    expect(await announced(`update end_users set attributes = '{"a": 1}'`)).toBe('0 own, 0 other')
    expect(await announced('update end_users set blocked_at = now()')).toBe('1 own, 0 other')
    expect(await announced('update end_users set blocked_at = null')).toBe('1 own, 0 other')
    await INSERT_POLICY.plan(database.db, newId(), environment)
    expect(await announced('update end_users set plan_id = plans.id from plans')).toBe('1 own, 0 other')
    // The plan's own going, and the end user that falls back.
    expect(await announced('delete from plans')).toBe('1 own, 0 other')
    const { rows } = await database.pool.query('select plan_id from end_users')
    expect(rows).toEqual([{ plan_id: null }])
    expect(await announced('delete from end_users')).toBe('0 own, 0 other')
  })

  test('an environment has one default plan at most, whoever writes', async () => {
    await INSERT_POLICY.plan(database.db, newId(), environment)
    await INSERT_POLICY.plan(database.db, newId(), environment)
    await expect(database.pool.query('update plans set is_default = true')).rejects.toMatchObject({
      constraint: 'plans_default',
    })
  })
})
