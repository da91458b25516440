import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSecretBox } from '../core/access/secret-box.ts'
import { systemClock } from '../core/clock.ts'
import { openIds } from '../core/ids.ts'
import { systemRandom } from '../core/random.ts'
import { type FreshDatabase, freshDatabase } from '../testing/harness/database.ts'
import { fillDemo } from './fill-demo.ts'

const ROWS = 3_000

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  const { db, pool } = database
  const secretBox = openSecretBox(randomBytes(32), systemRandom)
  const newId = openIds(systemClock, systemRandom)
  await fillDemo(
    { db, pool, secretBox, clock: systemClock, random: systemRandom, newId },
    { rows: ROWS, password: 'a long enough password', auditEntries: 50 },
  )
})
afterAll(() => database.drop())

async function read(sql: string): Promise<Record<string, unknown>> {
  return (await database.pool.query(sql)).rows[0]
}

test('writes the given number of records over 90 days, in both logs and rollups', async () => {
  const logs = await read(
    `select count(*)::int as rows, min(at) < now() - interval '88 days' as is_long,
      max(at) > now() - interval '6 hours' as is_recent, count(distinct provider)::int as providers from request_logs`,
  )
  expect(logs).toEqual({ rows: ROWS, is_long: true, is_recent: true, providers: 7 })
  const rollups = await read(`select sum(requests)::int as requests from usage_rollups where span = 'day'`)
  expect(rollups).toEqual({ requests: ROWS })
})

test('contains unpriced, estimated, failed, sandbox and expensive requests, and few errors', async () => {
  const kinds = await read(
    `select bool_or(cost_nano_usd is null) as unpriced, bool_or(usage_estimated) as estimated, bool_or(sandbox) as sandbox,
      bool_or(cost_nano_usd = 400) as cheapest, count(*) filter (where status >= 400) between 10 and 250 as failed,
      bool_or(request_body like '%<script>%') as hostile from request_logs`,
  )
  expect(Object.values(kinds)).toEqual([true, true, true, true, true, true])
})

test('makes nine members of all roles, an invitation, 25 keys, four budgets and a second organization', async () => {
  const counts = await read(
    `select (select count(*) from members m join organizations o on o.id = org_id
        where slug = 'acme' and accepted_at is not null)::int as members,
      (select count(*) from members where invite_hash is not null)::int as invitations,
      (select count(distinct role) from members)::int as roles, (select count(*) from keys)::int as keys,
      (select count(*) from budgets)::int as budgets, (select count(*) from organizations)::int as organizations,
      (select count(*) from end_users where blocked_at is not null)::int as blocked,
      (select count(*) from audit_log where actor_kind = 'member')::int as entries`,
  )
  expect(counts).toEqual({
    members: 9,
    invitations: 1,
    roles: 4,
    keys: 25,
    budgets: 4,
    organizations: 2,
    blocked: 5,
    entries: 50,
  })
})

test('lists the alias before its first request, and a circuit whose next request is a probe', async () => {
  const rules = await read(
    `select bool_and(a.created_at < now() - interval '90 days') as alias,
      (select bool_and(retry_at < now() and state = 'open') from circuits) as circuit from model_aliases a`,
  )
  expect(rules).toEqual({ alias: true, circuit: true })
})

test('gives the most frequent end users a plan that allows what they use', async () => {
  const plans = await read(
    `select count(*) filter (where p.name = 'enterprise')::int as enterprise, count(*) filter (where p.name = 'pro')::int as pro
    from end_users u join plans p on p.id = u.plan_id`,
  )
  expect(plans).toEqual({ enterprise: 12, pro: 288 })
})
