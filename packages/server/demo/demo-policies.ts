import { createManagementKeyRow } from '../control/management-keys/new-management-key.ts'
import type { ProjectTree } from '../control/projects/new-project.ts'
import { blockEndUser, insertSeenEndUsers } from '../storage/end-users/end-users.ts'
import { insertWebhook } from '../storage/events/webhooks.ts'
import { insertManagementKey } from '../storage/keys/management-keys.ts'
import { storeCircuit } from '../storage/models/circuits.ts'
import { insertBudget } from '../storage/policies/budgets.ts'
import { insertLimit } from '../storage/policies/limits.ts'
import { insertPlan } from '../storage/policies/plans.ts'
import { insertQuota } from '../storage/policies/quotas.ts'
import type { BudgetRow } from '../storage/policy-tables.ts'
import type { EnvironmentRow } from '../storage/schema.ts'
import type { DemoDeps } from './demo-deps.ts'
import { CIRCUIT_MODEL } from './demo-models.ts'
import type { DemoSource } from './demo-traffic.ts'
import { BUSY_KEY, OUTAGE_END_MS, OUTAGE_START_MS } from './incidents.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The end users of each plan by how many requests they make: the free plan would refuse the most frequent ones. */
const PLAN_RANKS = [
  ['enterprise', 0, 12],
  ['pro', 12, 300],
] as const

/** What was used in the running month of the organization's zone. */
export interface MonthUse {
  /** By organization, project, environment or key. */
  readonly nanoUsd: ReadonlyMap<string, number>
  readonly requests: ReadonlyMap<string, number>
}

export interface DemoScene {
  readonly orgId: string
  readonly chat: ProjectTree
  readonly tools: ProjectTree
  readonly sources: readonly DemoSource[]
}

function ownerOf(environment: EnvironmentRow) {
  return {
    org_id: environment.org_id,
    project_id: environment.project_id,
    environment_id: environment.id,
  }
}

/** Creates budgets that are used to 12, 79, 96 and 100 %, a quota in its grace, plans and limits. */
export async function createPolicies(deps: DemoDeps, scene: DemoScene, use: MonthUse): Promise<void> {
  const { chat, tools, orgId } = scene
  const at = new Date(deps.clock.now() - 60 * DAY_MS)
  const stamps = { created_at: at, updated_at: at }
  const key = scene.sources[0]?.keys.find(({ name }) => name === BUSY_KEY)
  const budgets: readonly [string, number, Pick<BudgetRow, 'project_id' | 'scope' | 'scope_ref'>][] = [
    [orgId, 0.79, { project_id: null, scope: null, scope_ref: null }],
    [tools.project.id, 0.12, { project_id: tools.project.id, scope: null, scope_ref: null }],
    [
      chat.production.id,
      0.96,
      { project_id: chat.project.id, scope: 'environment', scope_ref: chat.production.id },
    ],
    [key?.id ?? '', 1, { project_id: chat.project.id, scope: 'key', scope_ref: key?.id ?? null }],
  ]
  for (const [of, share, owner] of budgets) {
    const spent = Math.max(use.nanoUsd.get(of) ?? 0, 1e9)
    const limit = { limit_nano_usd: Math.round(spent / share), window: 'month', on_tight: 'cap' } as const
    await insertBudget(deps.db, {
      id: deps.newId(),
      org_id: orgId,
      ...owner,
      ...limit,
      alert_pcts: [80, 100],
      ...stamps,
    })
  }
  const requests = Math.max(use.requests.get(tools.production.id) ?? 0, 20)
  await insertQuota(deps.db, {
    id: deps.newId(),
    ...ownerOf(tools.production),
    scope: 'environment',
    scope_ref: null,
    metric: 'requests',
    window: 'month',
    limit: Math.floor(requests / 1.05),
    grace_pct: 10,
    ...stamps,
  })
  await createPlansAndLimits(deps, chat.production, scene.sources[0]?.endUsers ?? [], stamps)
}

async function createPlansAndLimits(
  deps: DemoDeps,
  environment: EnvironmentRow,
  endUsers: readonly string[],
  stamps: { created_at: Date; updated_at: Date },
): Promise<void> {
  const planIds = new Map<string, string>()
  const plans = [
    ['free', true, 10, 2, 50_000, 1e9],
    ['pro', false, 60, 8, 2_000_000, 20e9],
    ['enterprise', false, null, null, null, null],
  ] as const
  for (const [name, isDefault, perMinute, concurrency, tokens, nanoUsd] of plans) {
    const id = deps.newId()
    planIds.set(name, id)
    await insertPlan(deps.db, {
      id,
      ...ownerOf(environment),
      name,
      allowed_models: null,
      scopes: null,
      requests_per_minute: perMinute,
      max_concurrency: concurrency,
      tokens_per_day: tokens,
      nano_usd_per_month: nanoUsd,
      is_default: isDefault,
      ...stamps,
    })
  }
  for (const [name, from, to] of PLAN_RANKS) {
    const members = endUsers.slice(from, to)
    await deps.pool.query(
      'update end_users set plan_id = $1, updated_at = $2 where environment_id = $3 and external_id = any($4)',
      [planIds.get(name), stamps.updated_at, environment.id, members],
    )
  }
  const limits = [
    { scope: 'default_end_user', metric: 'requests', limit: 60, window_seconds: 60 },
    { scope: 'environment', metric: 'concurrency', limit: 200, window_seconds: null },
    { scope: 'environment', metric: 'tokens', limit: 2_000_000, window_seconds: 60 },
  ] as const
  for (const limit of limits) {
    const row = { id: deps.newId(), ...ownerOf(environment), scope_ref: null, ...limit, ...stamps }
    await insertLimit(deps.db, row)
  }
}

/** Creates the records of the end users, five of them blocked. */
export async function createEndUsers(deps: DemoDeps, { sources }: DemoScene): Promise<void> {
  for (const { environment, endUsers } of sources) {
    const seen = endUsers.map((name, index) => {
      const at = new Date(deps.clock.now() - Math.max(1, 88 - index / 20) * DAY_MS)
      const stamps = { created_at: at, updated_at: at }
      return { id: deps.newId(), ...ownerOf(environment), external_id: name, ...stamps }
    })
    if (seen.length > 0) await insertSeenEndUsers(deps.pool, seen)
    if (seen.length > 100)
      for (const { id } of seen.slice(60, 65)) await blockEndUser(deps.db, id, new Date(deps.clock.now()))
  }
}

/** Creates a circuit that an outage opened and no request has tried since, two webhooks without a running receiver, and the management keys. */
export async function createOperations(deps: DemoDeps, scene: DemoScene, userId: string): Promise<void> {
  const now = deps.clock.now()
  const credentialId = scene.sources[0]?.credentials.get('anthropic') ?? ''
  await storeCircuit(
    deps.db,
    {
      credentialId,
      provider: 'anthropic',
      model: CIRCUIT_MODEL.replace('anthropic/', ''),
      isOpen: true,
      isOpening: true,
      failureRate: 0.62,
      openedAt: now - OUTAGE_START_MS + MINUTE_MS,
      retryAt: now - OUTAGE_END_MS,
      expiresAt: now + DAY_MS,
    },
    deps,
  )
  // After the circuit: its event must not be sent to an address that does not answer.
  for (const [url, events] of [
    ['https://hooks.acme.example/rideau', ['budget.alert', 'quota.alert']],
    ['https://alerts.acme.example/gateway', ['credential.invalid', 'circuit.open']],
  ] as const) {
    const id = deps.newId()
    const secret = `whsec_${deps.random.bytes(32).toString('base64')}`
    const at = new Date(now - 40 * DAY_MS)
    await insertWebhook(deps.db, {
      id,
      org_id: scene.orgId,
      url,
      events: [...events],
      secret_cipher: deps.secretBox.seal(secret, `webhooks:${id}`),
      created_at: at,
      updated_at: at,
    })
  }
  for (const [name, role] of [
    ['Terraform', 'admin'],
    ['Cost report', 'viewer'],
  ] as const) {
    const input = { orgId: scene.orgId, name, role, expiresAt: null, createdBy: userId }
    await insertManagementKey(deps.db, createManagementKeyRow(deps, input).row)
  }
}
