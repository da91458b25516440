import { createKeyRow } from '../control/keys/new-key.ts'
import { createProject, type ProjectTree } from '../control/projects/new-project.ts'
import { toCredentialRow } from '../control/provider-credentials/new-credential.ts'
import { SCOPES } from '../core/tenancy/tenancy.ts'
import { insertKey } from '../storage/keys/keys.ts'
import { insertModelAlias } from '../storage/models/model-aliases.ts'
import { insertProviderCredential } from '../storage/models/provider-credentials.ts'
import type { EnvironmentRow } from '../storage/schema.ts'
import { updateEnvironment } from '../storage/tenancy/environments.ts'
import type { DemoDeps } from './demo-deps.ts'
import { ALIAS, ALIAS_TARGETS, DEMO_MODELS, DEMO_PROVIDERS } from './demo-models.ts'
import type { DemoSource, DemoSourceKey } from './demo-traffic.ts'
import { toNames } from './end-user-names.ts'
import { BUSY_KEY, STORMING_KEY } from './incidents.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** The page that shows the most of the demo. */
export const DEMO_HOME = '/o/acme/chat-app/production/overview'

/** A key by what happened to it. */
interface DemoKey {
  readonly name: string
  readonly weight: number
  readonly state?: 'expired' | 'revoked' | 'rolling' | 'publishable'
  readonly models?: readonly string[]
  readonly maxUsd?: number
}

const PRODUCTION_KEYS: readonly DemoKey[] = [
  { name: 'web-backend', weight: 12, maxUsd: 0.5 },
  { name: STORMING_KEY, weight: 8, models: [ALIAS, 'openai/gpt-5.4-mini'] },
  { name: BUSY_KEY, weight: 2 },
  { name: 'support-desk', weight: 4, models: ['anthropic/*'] },
  { name: 'search-index', weight: 5, models: ['openai/text-embedding-3-small'] },
  { name: 'data-science', weight: 1, maxUsd: 5 },
  { name: 'web-backend, next', weight: 1, state: 'rolling' },
  { name: 'partner-2025', weight: 0, state: 'expired' },
  { name: 'old-importer', weight: 0, state: 'revoked' },
  { name: 'ios-app', weight: 0, state: 'publishable' },
  { name: 'android-app', weight: 0, state: 'publishable' },
  { name: 'reserved for the spring', weight: 0 },
]
const DEVELOPMENT_KEYS: readonly DemoKey[] = [
  { name: 'laptop of Alan', weight: 3 },
  { name: 'laptop of Radia', weight: 2 },
  { name: 'continuous integration', weight: 4, models: ['sandbox/*', 'openai/gpt-5.4-mini'] },
  { name: 'hackathon', weight: 0, state: 'expired' },
  { name: 'leaked in a screenshot', weight: 0, state: 'revoked' },
  { name: 'web preview', weight: 0, state: 'publishable' },
]
const TOOL_KEYS: readonly DemoKey[] = [
  { name: 'code-review', weight: 5 },
  { name: 'meeting-notes', weight: 3 },
  { name: 'spreadsheet', weight: 1 },
  { name: 'old-bot', weight: 0, state: 'revoked' },
]
const TOOL_DEVELOPMENT_KEYS: readonly DemoKey[] = [
  { name: 'prototype', weight: 1 },
  { name: 'never used', weight: 0 },
  { name: 'workshop', weight: 0, state: 'expired' },
]

export interface DemoProjects {
  readonly chat: ProjectTree
  readonly tools: ProjectTree
  readonly sources: readonly DemoSource[]
  /** A working key of the chat project's development environment. */
  readonly developmentKey: string
}

/** Creates three projects: one with nearly all traffic, one with a little, and one in which every page is empty. */
export async function createProjects(deps: DemoDeps, orgId: string): Promise<DemoProjects> {
  const past = { ...deps, clock: { now: () => deps.clock.now() - 95 * DAY_MS } }
  const create = (name: string, slug: string, allowedOrigins: readonly string[]): Promise<ProjectTree> =>
    deps.db.transaction().execute(tx => createProject(tx, past, { orgId, name, slug, allowedOrigins }))
  // The oldest project is the one that the dashboard opens first.
  const chat = await create('Chat app', 'chat-app', ['https://chat.acme.example'])
  const tools = await create('Internal tools', 'internal-tools', [])
  await create('New idea', 'new-idea', [])
  const users = toNames(1_800)
  const production = await fill(deps, chat.production, 78, PRODUCTION_KEYS, users)
  const development = await fill(deps, chat.development, 8, DEVELOPMENT_KEYS, users.slice(0, 40))
  const sources = [
    production.source,
    development.source,
    (await fill(deps, tools.production, 12, TOOL_KEYS, [])).source,
    (await fill(deps, tools.development, 2, TOOL_DEVELOPMENT_KEYS, [])).source,
  ]
  return { chat, tools, sources, developmentKey: development.firstKey }
}

async function fill(
  deps: DemoDeps,
  environment: EnvironmentRow,
  weight: number,
  demoKeys: readonly DemoKey[],
  endUsers: readonly string[],
): Promise<{ source: DemoSource; firstKey: string }> {
  const now = new Date(deps.clock.now())
  // Records older than this would be removed at the start.
  await updateEnvironment(deps.db, environment.id, { log_retention_days: 120 }, now)
  const credentials = new Map<string, string>()
  for (const provider of DEMO_PROVIDERS)
    credentials.set(provider, await addCredential(deps, environment, provider))
  const keys: DemoSourceKey[] = []
  let firstKey = ''
  for (const key of demoKeys) {
    const { id, text } = await addKey(deps, environment, key)
    if (firstKey === '') firstKey = text
    if (key.weight > 0)
      keys.push({ id, name: key.name, weight: key.weight, models: key.models, maxUsd: key.maxUsd })
  }
  await addAlias(deps, environment)
  return { source: { environment, weight, keys, credentials, endUsers }, firstKey }
}

/** The key is made up: a request to the provider fails there. */
async function addCredential(deps: DemoDeps, environment: EnvironmentRow, provider: string): Promise<string> {
  const past = { ...deps, clock: { now: () => deps.clock.now() - 92 * DAY_MS } }
  const apiKey = `demo-${deps.random.bytes(12).toString('hex')}`
  const input = { provider, name: `${provider}, demo`, apiKey, baseUrl: null, options: {}, weight: 1 }
  const isExpired = provider === 'mistral'
  const row = {
    ...toCredentialRow(past, environment, input),
    last_validated_at: new Date(deps.clock.now() - (isExpired ? 3 * DAY_MS : HOUR_MS)),
    validation_error: isExpired ? 'The provider refuses the key (401).' : null,
    discovered_models: DEMO_MODELS.filter(model => model.provider === provider).map(({ model }) => model),
  }
  return (await insertProviderCredential(deps.db, row)).id
}

async function addKey(
  deps: DemoDeps,
  environment: EnvironmentRow,
  { name, state, models, maxUsd, weight }: DemoKey,
): Promise<{ id: string; text: string }> {
  const now = deps.clock.now()
  const past = { ...deps, clock: { now: () => now - 90 * DAY_MS } }
  const { row, text } = createKeyRow(past, environment, {
    kind: state === 'publishable' ? 'publishable' : 'secret',
    name,
    scopes: SCOPES,
    allowedModels: models ?? null,
    allowedEndpoints: null,
    maxRequestCostNanoUsd: maxUsd === undefined ? null : maxUsd * 1e9,
    expiresAt: null,
  })
  const expiresAt = state === 'expired' ? now - 9 * DAY_MS : state === 'rolling' ? now + 6 * HOUR_MS : null
  await insertKey(deps.db, {
    ...row,
    expires_at: expiresAt === null ? null : new Date(expiresAt),
    revoked_at: state === 'revoked' ? new Date(now - 21 * DAY_MS) : null,
    last_used_at: weight > 0 ? new Date(now - 4 * 60_000) : null,
  })
  return { id: row.id, text }
}

async function addAlias(deps: DemoDeps, environment: EnvironmentRow): Promise<void> {
  const at = new Date(deps.clock.now() - 91 * DAY_MS)
  const target = (model: string) => ({ model, weight: null, timeout_ms: null, max_retries: null })
  const targets = ALIAS_TARGETS.map(({ provider, model }) => target(`${provider}/${model}`))
  await insertModelAlias(deps.db, {
    id: deps.newId(),
    org_id: environment.org_id,
    project_id: environment.project_id,
    environment_id: environment.id,
    alias: ALIAS,
    strategy: 'priority',
    targets: JSON.stringify(targets),
    created_at: at,
    updated_at: at,
  })
}
