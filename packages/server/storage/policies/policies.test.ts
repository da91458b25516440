import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { INSERT_POLICY, putProjectAuth } from '../../testing/harness/policies.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import { type ConfigNotifications, openConfigNotifications } from '../changes/config-notifications.ts'
import type { EnvironmentRow } from '../schema.ts'
import { findEnvironment } from '../tenancy/environments.ts'
import { removePlan } from './plans.ts'

const newId = openIds(systemClock, systemRandom)

describe.each(listTestServers())('change notifications of policies on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  let environment: EnvironmentRow
  let notifications: ConfigNotifications
  let notified: string[]
  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
    // A second environment, in another project of the same organization.
    await database.pool.query(
      `with sibling as (
        insert into projects select gen_random_uuid(), org_id, name, 'sibling', allowed_origins, created_at, updated_at
        from projects returning *
      ) insert into environments select gen_random_uuid(), s.org_id, s.id, e.name, e.is_default, e.log_retention_days,
        e.log_capture, e.allowed_models, e.unsupported_params, e.on_client_gone, e.allow_client_passthrough,
        e.allow_secret_key_in_browser, e.created_at, e.updated_at from environments e, sibling s`,
    )
    environment = (await findEnvironment(database.db, seeded.environmentId)) as EnvironmentRow
    notified = []
    notifications = await openConfigNotifications({
      connection: database.connection,
      log: () => {},
      onChange: id => notified.push(id),
      onLost: () => {},
      onRestored: () => {},
    })
  })
  afterEach(async () => {
    await notifications.close()
    await database.drop()
  })

  /** The environments that a statement notifies: the policy's own, and others. */
  const countNotified = async (statement: string | (() => Promise<unknown>)): Promise<string> => {
    await notifications.barrier()
    notified.length = 0
    await (typeof statement === 'string' ? database.pool.query(statement) : statement())
    await notifications.barrier()
    const others = notified.filter(id => id !== environment.id).length
    return `${notified.length - others} own, ${others} other`
  }

  test.each(['limit', 'quota', 'plan'] as const)('a %s notifies only its environment', async kind => {
    const insert = () => INSERT_POLICY[kind](database.db, newId(), environment)
    expect(await countNotified(insert)).toBe('1 own, 0 other')
    expect(await countNotified(`update ${kind}s set updated_at = now()`)).toBe('1 own, 0 other')
    expect(await countNotified(`delete from ${kind}s`)).toBe('1 own, 0 other')
  })

  test("a project's budget and authentication notify the project's environments", async () => {
    const insert = () => INSERT_POLICY.budget(database.db, newId(), environment)
    expect(await countNotified(insert)).toBe('1 own, 0 other')
    expect(await countNotified('delete from budgets')).toBe('1 own, 0 other')
    expect(await countNotified(() => putProjectAuth(database.db, environment))).toBe('2 own, 0 other')
    expect(await countNotified('delete from federated_auth')).toBe('1 own, 0 other')
    expect(await countNotified('delete from device_auth')).toBe('1 own, 0 other')
  })

  test("an organization's budget and limit notify all of its environments", async () => {
    await INSERT_POLICY.budget(database.db, newId(), environment)
    await INSERT_POLICY.limit(database.db, newId(), environment)
    expect(await countNotified('update budgets set project_id = null')).toBe('1 own, 1 other')
    expect(await countNotified('update limits set project_id = null, environment_id = null')).toBe(
      '1 own, 1 other',
    )
    expect(await countNotified('delete from limits')).toBe('1 own, 1 other')
  })

  test('an end user notifies its environment when its plan, its block or its external id changes', async () => {
    const insert = () => INSERT_POLICY.end_user(database.db, newId(), environment)
    expect(await countNotified(insert)).toBe('0 own, 0 other')
    expect(await countNotified(`update end_users set attributes = '{"a": 1}'`)).toBe('0 own, 0 other')
    expect(await countNotified('update end_users set blocked_at = now()')).toBe('1 own, 0 other')
    expect(await countNotified('update end_users set blocked_at = null')).toBe('1 own, 0 other')
    await INSERT_POLICY.plan(database.db, newId(), environment)
    expect(await countNotified('update end_users set plan_id = plans.id from plans')).toBe('1 own, 0 other')
    // One notification for the plan, one for the end user that loses it; PostgreSQL merges equal ones.
    expect(await countNotified('delete from plans')).toBe('1 own, 0 other')
    const { rows } = await database.pool.query('select plan_id from end_users')
    expect(rows).toEqual([{ plan_id: null }])
    expect(await countNotified('delete from end_users')).toBe('0 own, 0 other')
  })

  test('a deleted plan notifies its environment once, and an end user that is taken off it nobody', async () => {
    const planId = newId()
    const userId = newId()
    await INSERT_POLICY.plan(database.db, planId, environment)
    await INSERT_POLICY.end_user(database.db, userId, environment)
    await database.pool.query('update end_users set plan_id = $1', [planId])
    expect(await countNotified(() => removePlan(database.db, planId, new Date()))).toBe('1 own, 0 other')
    expect(await countNotified('update end_users set plan_id = null')).toBe('0 own, 0 other')
    await database.pool.query('update end_users set plan_id = $1', [planId])
    const both = 'update end_users set plan_id = null, blocked_at = now()'
    expect(await countNotified(both)).toBe('1 own, 0 other')
  })

  test('rejects a second default plan of an environment, whoever writes it', async () => {
    await INSERT_POLICY.plan(database.db, newId(), environment)
    await INSERT_POLICY.plan(database.db, newId(), environment)
    await expect(database.pool.query('update plans set is_default = true')).rejects.toMatchObject({
      constraint: 'plans_default',
    })
  })
})
