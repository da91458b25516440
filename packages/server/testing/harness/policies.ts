import { upsertDeviceAuth } from '../../storage/end-users/device-auth.ts'
import { insertEndUser } from '../../storage/end-users/end-users.ts'
import { upsertFederatedAuth } from '../../storage/end-users/federated-auth.ts'
import { insertWebhook } from '../../storage/events/webhooks.ts'
import { insertBudget } from '../../storage/policies/budgets.ts'
import { insertLimit } from '../../storage/policies/limits.ts'
import { insertPlan } from '../../storage/policies/plans.ts'
import { insertQuota } from '../../storage/policies/quotas.ts'
import type { Db } from '../../storage/pool.ts'
import type { EnvironmentRow } from '../../storage/schema.ts'

/** Inserts one policy of each kind without calling operations. Each returns the new row's id. */
export const INSERT_POLICY = {
  async limit(db: Db, id: string, environment: EnvironmentRow) {
    const window = { limit: 10, window_seconds: 60 }
    const row = { scope: 'environment', scope_ref: null, metric: 'requests', ...window } as const
    await insertLimit(db, { id, ...tenancyOf(environment), ...row, ...stampsOf(environment) })
  },
  async quota(db: Db, id: string, environment: EnvironmentRow) {
    const window = { window: 'day', limit: 10, grace_pct: 0 } as const
    const row = { scope: 'environment', scope_ref: null, metric: 'requests', ...window } as const
    await insertQuota(db, { id, ...tenancyOf(environment), ...row, ...stampsOf(environment) })
  },
  async budget(db: Db, id: string, environment: EnvironmentRow) {
    const { org_id, project_id } = environment
    const row = { scope: null, scope_ref: null, limit_nano_usd: 1, window: 'day', alert_pcts: [] } as const
    await insertBudget(db, {
      id,
      org_id,
      project_id,
      ...row,
      alert_pcts: [],
      on_tight: 'cap',
      ...stampsOf(environment),
    })
  },
  async plan(db: Db, id: string, environment: EnvironmentRow) {
    const bounds = {
      allowed_models: null,
      scopes: null,
      requests_per_minute: null,
      max_concurrency: null,
      tokens_per_day: null,
      nano_usd_per_month: null,
    }
    const row = { name: `plan ${id}`, ...bounds, is_default: false }
    await insertPlan(db, { id, ...tenancyOf(environment), ...row, ...stampsOf(environment) })
  },
  async end_user(db: Db, id: string, environment: EnvironmentRow) {
    const row = { external_id: `user ${id}`, plan_id: null, attributes: '{}', blocked_at: null }
    await insertEndUser(db, { id, ...tenancyOf(environment), ...row, ...stampsOf(environment) })
  },
  async webhook(db: Db, id: string, environment: EnvironmentRow) {
    const row = { url: 'https://example.com/hook', events: ['budget.alert'], secret_cipher: Buffer.of(0) }
    await insertWebhook(db, { id, org_id: environment.org_id, ...row, ...stampsOf(environment) })
  },
}

/** Inserts the rows of which a project has at most one. */
export async function putProjectAuth(db: Db, environment: EnvironmentRow): Promise<void> {
  const { org_id, project_id } = environment
  await upsertFederatedAuth(db, {
    project_id,
    org_id,
    issuers: ['https://issuer.example.com'],
    audiences: ['app'],
    authorized_parties: [],
    jwks_url: null,
    algorithms: ['RS256'],
    user_id_claim: 'sub',
    plan_claim: null,
    required_claims: '{}',
    clock_tolerance_seconds: 30,
    max_token_age_seconds: 3600,
    ...stampsOf(environment),
  })
  await upsertDeviceAuth(db, {
    project_id,
    org_id,
    ios_team_id: 'ABCDE12345',
    ios_bundle_ids: ['com.example.app'],
    ios_environment: 'production',
    device_check_key_id: null,
    device_check_cipher: null,
    android_package_names: null,
    android_signing_digests: null,
    ...stampsOf(environment),
  })
}

function tenancyOf({ id, org_id, project_id }: EnvironmentRow) {
  return { org_id, project_id, environment_id: id }
}

function stampsOf({ created_at, updated_at }: EnvironmentRow) {
  return { created_at, updated_at }
}
