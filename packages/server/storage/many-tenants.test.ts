import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSecretBox } from '../core/access/secret-box.ts'
import type { FixedMeter, MeterSubject } from '../core/limits/meter.ts'
import { systemRandom } from '../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { explainOn, recordPool, recordQueries, type SentStatement } from '../testing/harness/explain.ts'
import { insertRecords } from '../testing/harness/insert-records.ts'
import { requestRecord } from '../testing/harness/request-record.ts'
import { newId } from '../testing/harness/storage-rows.ts'
import { type EndUserFilter, listEndUsers } from './end-users/end-users.ts'
import { AlertSweep } from './events/alert-sweep.ts'
import type { Db } from './pool.ts'
import type { EnvironmentRow } from './schema.ts'
import { findEnvironmentSnapshot } from './snapshots/snapshots.ts'
import { listWorkspace } from './tenancy/workspace.ts'
import { inTenantScope } from './tenant-scope.ts'
import { listMeterSeeds } from './usage/usage-seeds.ts'
import { sumUsage } from './usage/usage-totals.ts'
import { listInvitationsByEmail } from './users/members.ts'
import { removeExpiredSessions } from './users/sessions.ts'

const AT = Date.parse('2026-11-21T12:00:00Z')
const SINCE = new Date(AT - 86_400_000)
const ADDRESS = 'ann@example.com'
const FIRST_PAGE = { limit: 21, after: undefined }

/**
 * 1,000 organizations with two environments, budgets, quotas and a pending invitation each. Five of them have 4,000 end users: those of the
 * first have a plan, and those of the second are blocked.
 */
async function seedTenants({ pool }: FreshDatabase): Promise<void> {
  const id = (kind: string) => `md5('${kind}-' || i)::uuid`
  const owners = `${id('organization')}, ${id('project')}`
  for (const statement of [
    `insert into organizations (id, name, slug, created_at, updated_at)
      select ${id('organization')}, 'o', 'o' || i, now(), now() from generate_series(1, 1000) as i`,
    `insert into projects (id, org_id, name, slug, created_at, updated_at)
      select ${id('project')}, ${id('organization')}, 'p', 'p', now(), now() from generate_series(1, 1000) as i`,
    // Of one user, who is a member of 300 of them in their order, each with nine projects more.
    `insert into users (id, email, email_proven, created_at, updated_at) values (md5('user-1')::uuid, 'u@example.com', true, now(), now())`,
    `insert into sessions (id, user_id, hash, created_at, last_used_at, expires_at)
      select gen_random_uuid(), md5('user-1')::uuid, sha256(i::text::bytea), now(), '2100-01-01', '2100-01-01' from generate_series(1, 5000) as i`,
    `insert into members (id, org_id, user_id, role, accepted_at, created_at, updated_at)
      select gen_random_uuid(), ${id('organization')}, md5('user-1')::uuid, 'owner', now(), now() + i * interval '1 s', now()
      from generate_series(1, 300) as i`,
    `insert into projects (id, org_id, name, slug, created_at, updated_at)
      select gen_random_uuid(), ${id('organization')}, 'p', 'p' || n, now(), now() from generate_series(1, 300) as i, generate_series(2, 10) as n`,
    `insert into environments (id, org_id, project_id, name, is_default, log_capture, created_at, updated_at)
      select gen_random_uuid(), org_id, id, kind, kind = 'development', 'full', now(), now()
      from projects, unnest('{development,production}'::text[]) as kind where slug <> 'p'`,
    `insert into environments (id, org_id, project_id, name, is_default, log_capture, created_at, updated_at)
      select md5(name || '-' || i)::uuid, ${owners}, name, name = 'development', 'full', now(), now()
      from generate_series(1, 1000) as i, unnest('{development,production}'::text[]) as name`,
    `insert into budgets (id, org_id, limit_nano_usd, "window", alert_pcts, created_at, updated_at)
      select gen_random_uuid(), ${id('organization')}, 1, 'day', '{80}', now(), now()
      from generate_series(1, 1000) as i, generate_series(1, 2)`,
    `insert into quotas (id, org_id, project_id, environment_id, scope, metric, "window", "limit", grace_pct, created_at, updated_at)
      select gen_random_uuid(), ${owners}, ${id('development')}, 'environment', 'requests', 'day', 1, 10, now(), now()
      from generate_series(1, 1000) as i, generate_series(1, 2)`,
    `insert into members (id, org_id, role, invite_email, invite_hash, created_at, updated_at)
      select gen_random_uuid(), ${id('organization')}, 'viewer', 'user-' || i || '@example.com', sha256(i::text::bytea), now(), now()
      from generate_series(1, 1000) as i`,
    `insert into plans (id, org_id, project_id, environment_id, name, created_at, updated_at)
      select ${id('plan')}, ${owners}, ${id('development')}, 'free', now(), now() from generate_series(1, 4) as i`,
    `insert into end_users (id, org_id, project_id, environment_id, external_id, plan_id, blocked_at, created_at, updated_at)
      select gen_random_uuid(), ${owners}, ${id('development')}, 'user-' || md5(n::text),
        case when i = 1 then ${id('plan')} end, case when i = 2 then now() end, now(), now()
      from generate_series(1, 20000) as n, lateral (select n % 5 + 1 as i) as place`,
    `select make_partition('usage_records', 'usage_records_202611', '2026-11-01', '2026-12-01')`,
    `insert into usage_records (id, at, org_id, project_id, environment_id, endpoint, status, uncached_input_tokens, cache_read_tokens,
        cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, cost_nano_usd, sandbox)
      select gen_random_uuid(), '2026-11-21T11:00:00Z', ${owners}, ${id('development')}, 'chat', 200, 1, 0, 0, 1, 0, false, 1, false
      from generate_series(1, 20000) as n, lateral (select n % 1000 + 1 as i) as place`,
    'analyze',
  ]) {
    await pool.query(statement)
  }
}

/** Returns the id of a row that seedTenants made. */
function idOf(kind: string, number: number): string {
  return createHash('md5')
    .update(`${kind}-${number}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const tenant = (number: number) => ({
  orgId: idOf('organization', number),
  projectId: idOf('project', number),
  environmentId: idOf('development', number),
})
const WITH_PLAN = tenant(1)
const PLAIN = tenant(5)

describe.each(listTestServers())('among many tenants on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
    await seedTenants(database)
  })
  afterAll(() => database.drop())

  /** The plans of the statements that `work` sends, in a tenant scope as the control plane's are. */
  async function explainScoped(
    kind: 'generic' | 'custom',
    { orgId }: { readonly orgId: string },
    work: (db: Db) => Promise<unknown>,
  ): Promise<string> {
    return await inTenantScope(database.db, [orgId], async scoped => {
      const sent: SentStatement[] = []
      await work(recordQueries(scoped, sent))
      return await explainAll(scoped, kind, sent)
    })
  }
  /** The same for statements of the gateway, of jobs and of sign-in, which enter no scope. */
  async function explainUnscoped(
    kind: 'generic' | 'custom',
    work: (sent: SentStatement[]) => Promise<unknown>,
  ): Promise<string> {
    const sent: SentStatement[] = []
    await work(sent)
    return await database.db.transaction().execute(tx => explainAll(tx, kind, sent))
  }
  async function explainAll(tx: Db, kind: 'generic' | 'custom', sent: SentStatement[]): Promise<string> {
    expect(sent).not.toHaveLength(0)
    const plans: string[] = []
    for (const statement of sent) plans.push(await explainOn(tx, kind, statement))
    return plans.join('\n')
  }

  const KINDS = ['generic', 'custom'] as const

  describe.each(KINDS)('the %s plan', kind => {
    test('of an environment reads no end user of another one', async () => {
      const box = openSecretBox(Buffer.alloc(32, 1), systemRandom)
      const plan = await explainUnscoped(kind, sent =>
        findEnvironmentSnapshot(recordPool(database.pool, sent), box, PLAIN.environmentId),
      )
      expect(plan).toContain('end_users')
      expect(plan).not.toContain('Seq Scan on end_users')
    })

    test('of seeds reads the environments of the organization only', async () => {
      const toMeter = (change: Partial<MeterSubject>): FixedMeter => ({
        kind: 'fixed',
        key: 'k',
        series: 's',
        metric: 'requests',
        subject: {
          orgId: PLAIN.orgId,
          projectId: null,
          environmentId: null,
          keyId: null,
          endUserId: null,
          excludesSandbox: false,
          ...change,
        },
        source: { kind: 'quota', id: PLAIN.orgId, scope: 'org', ref: '', code: 'quota_exceeded' },
        limit: 1,
        nominalLimit: 1,
        alertThresholds: [],
        changedAt: 0,
        since: SINCE.getTime(),
        end: AT,
      })
      const meters = [toMeter({}), toMeter({ environmentId: PLAIN.environmentId })]
      const plan = await explainUnscoped(kind, sent =>
        listMeterSeeds(recordPool(database.pool, sent), meters, AT, []),
      )
      expect(plan).toContain('environments')
      expect(plan).not.toContain('Seq Scan on environments')
    })

    test('of sums of usage reads the environments of the organization only', async () => {
      const plan = await explainScoped(kind, PLAIN, db =>
        sumUsage(db, [{ id: PLAIN.orgId, org_id: PLAIN.orgId, since: SINCE }]),
      )
      expect(plan).toContain('environments')
      expect(plan).not.toContain('Seq Scan on environments')
    })

    test('of the sweep for alerts reads the budgets and quotas of the organization only', async () => {
      const plan = await explainUnscoped(kind, async sent => {
        const db = recordQueries(database.db, sent)
        const { pool } = database
        const environment = { id: PLAIN.environmentId, org_id: PLAIN.orgId, project_id: PLAIN.projectId }
        await insertRecords(pool, [requestRecord(environment as EnvironmentRow, newId(), AT)])
        for await (const _ of new AlertSweep({ db, pool }).run(SINCE, AT));
      })
      expect(plan).toMatch(/Index Scan (using|on) budgets_owner/)
      expect(plan).toMatch(/Index Scan (using|on) quotas_owner/)
    })

    test('of the invitations of an address reads no other address', async () => {
      const plan = await explainUnscoped(kind, sent =>
        listInvitationsByEmail(recordQueries(database.db, sent), ADDRESS),
      )
      expect(plan).toContain('members')
      expect(plan).not.toContain('Seq Scan on members')
    })

    test('of the dashboard reads the projects of the first organizations only', async () => {
      const plan = await explainUnscoped(kind, async sent => {
        const rows = await listWorkspace(recordQueries(database.db, sent), idOf('user', 1), 41)
        expect(rows).toHaveLength(41)
        expect(new Set(rows.map(row => row.org_id))).toEqual(
          new Set([1, 2, 3].map(n => idOf('organization', n))),
        )
      })
      expect(plan).toMatch(/Scan (using|on) projects_age .*loops=[1-5]\)/)
      expect(plan).toMatch(/Scan (using|on) environments_project\w+ .*loops=[2-5]\d\)/)
    })

    test('of the end users of a plan has them in the order of the list', async () => {
      const plan = await explainScoped(kind, WITH_PLAN, db =>
        listEndUsers(db, WITH_PLAN.environmentId, FIRST_PAGE, { plan: 'free' }),
      )
      expect(plan).toContain('end_users_plan_list')
      expect(plan).not.toContain('Sort')
    })
  })

  test('a sign-in that removes idle sessions reads no others', async () => {
    const plan = await explainUnscoped('custom', async sent => {
      await removeExpiredSessions(recordQueries(database.db, sent), new Date(AT), new Date(AT))
    })
    expect(plan).toMatch(/ on sessions_last_used /)
    expect(plan).not.toContain('Seq Scan on sessions')
  })

  test.each<[string, EndUserFilter]>([
    ['a beginning that nobody has', { beginning: 'nobody' }],
    ['a rare beginning', { beginning: 'user-0123' }],
    ['a beginning with what would be a pattern', { beginning: '%\\_' }],
  ])('end users by %s are found by their index', async (_, filter) => {
    const plan = await explainScoped('custom', PLAIN, db =>
      listEndUsers(db, PLAIN.environmentId, FIRST_PAGE, filter),
    )
    expect(plan).toMatch(/Index Cond: .*external_id ~>=~/)
    expect(plan).not.toContain('end_users_environment')
  })

  test.each(KINDS)('what a change announces is found by the organization, by a %s plan', async kind => {
    const { orgId } = PLAIN
    await database.db.transaction().execute(async tx => {
      const countScans = async (): Promise<unknown> => {
        const { rows } =
          await sql`select seq_scan from pg_stat_xact_user_tables where relname = 'environments'`.execute(tx)
        return rows
      }
      await sql`select set_config('plan_cache_mode', ${`force_${kind}_plan`}, true)`.execute(tx)
      const before = await countScans()
      await sql`update organizations set name = 'new' where id = ${orgId}`.execute(tx)
      await sql`insert into budgets (id, org_id, limit_nano_usd, "window", created_at, updated_at)
        values (gen_random_uuid(), ${orgId}, 1, 'day', now(), now())`.execute(tx)
      await sql`delete from budgets where org_id = ${orgId}`.execute(tx)
      expect(await countScans()).toEqual(before)
    })
  })
})
