import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashKeyText } from '../../core/access/key-format.ts'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import { addEndUser, addKey, addTree, below } from '../../testing/harness/storage-rows.ts'
import { blockEndUser } from '../end-users/end-users.ts'
import { insertCustomModel } from '../models/custom-models.ts'
import { insertModelAlias } from '../models/model-aliases.ts'
import { insertBudget } from '../policies/budgets.ts'
import { insertLimit } from '../policies/limits.ts'
import type { EnvironmentRow } from '../schema.ts'
import { findEnvironment } from '../tenancy/environments.ts'
import { findEnvironmentSnapshot, findKeyByHash } from './snapshots.ts'

const id = openIds(systemClock, systemRandom)
const box = openSecretBox(Buffer.alloc(32, 1), systemRandom)

describe.each(listTestServers())('snapshots on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  beforeEach(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
  })
  afterEach(() => database.drop())

  const addCredential = async (name: string, createdAt: string, context?: string): Promise<string> => {
    const credentialId = id()
    await database.pool.query(
      `insert into provider_credentials (id, org_id, project_id, environment_id, provider, name, secret_cipher,
          key_fingerprint, options, weight, created_at, updated_at)
        values ($1, $2, $3, $4, 'openai', $5, $6, 'f', '{"a": 1}', 2, $7, $7)`,
      [
        credentialId,
        seeded.orgId,
        seeded.projectId,
        seeded.environmentId,
        name,
        box.seal(`sk-${name}`, context ?? `provider_credentials:${credentialId}`),
        createdAt,
      ],
    )
    return credentialId
  }

  test('finds a key by its hash, with its restrictions', async () => {
    const hash = hashKeyText('rd_sk_dev_test')
    const keyId = id()
    await database.pool.query(
      `insert into keys (id, original_id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes,
          allowed_models, allowed_endpoints, max_request_cost_nano_usd, expires_at, created_at, updated_at)
        values ($1, $1, $2, $3, $4, 'secret', 'k', $5, 'rd', '{ai.chat}', '{openai/*}', '{chat}', 5000000000,
          '2030-01-01T00:00:00Z', now(), now())`,
      [keyId, seeded.orgId, seeded.projectId, seeded.environmentId, hash],
    )
    expect(await findKeyByHash(database.pool, hash)).toEqual({
      id: keyId,
      originalId: keyId,
      kind: 'secret',
      environmentId: seeded.environmentId,
      scopes: ['ai.chat'],
      allowedModels: ['openai/*'],
      allowedEndpoints: ['chat'],
      maxRequestCostNanoUsd: 5_000_000_000,
      expiresAt: Date.UTC(2030, 0, 1),
      revokedAt: null,
    })
    expect(await findKeyByHash(database.pool, hashKeyText('another'))).toBeUndefined()
  })

  test('leaves the lists of younger credentials out where those before them fill the bounds of an environment', async () => {
    for (const [name, createdAt, count] of [
      ['b', '2030-01-02', 1],
      ['a', '2030-01-01', 20_000],
    ] as const) {
      // As two that are written at once, or an earlier version, leave them.
      await database.pool.query(
        `update provider_credentials set discovered_models = (select array_agg('m' || i) from generate_series(1, $2) i)
          where id = $1`,
        [await addCredential(name, createdAt), count],
      )
    }
    const found = await findEnvironmentSnapshot(database.pool, box, seeded.environmentId)
    expect(found?.credentials.map(({ discovered }) => discovered.size)).toEqual([20_000, 0])
  })

  test('returns an environment with its decrypted credentials, oldest first', async () => {
    const younger = await addCredential('younger', '2026-02-01T00:00:00Z')
    const older = await addCredential('older', '2026-01-01T00:00:00Z')
    const found = await findEnvironmentSnapshot(database.pool, box, seeded.environmentId)
    expect(found).toMatchObject({
      id: seeded.environmentId,
      orgId: seeded.orgId,
      projectId: seeded.projectId,
      name: 'development',
      logCapture: 'full',
      allowedModels: null,
      allowedOrigins: ['https://app.example'],
      deleted: false,
    })
    expect(found?.credentials).toEqual([
      {
        id: older,
        provider: 'openai',
        apiKey: 'sk-older',
        baseUrl: null,
        options: { a: 1 },
        weight: 2,
        createdAt: Date.UTC(2026, 0, 1),
        updatedAt: Date.UTC(2026, 0, 1),
        discovered: new Set(),
      },
      expect.objectContaining({ id: younger, apiKey: 'sk-younger' }),
    ])
  })

  test('returns an empty list without credentials, and undefined for an unknown id', async () => {
    expect((await findEnvironmentSnapshot(database.pool, box, seeded.environmentId))?.credentials).toEqual([])
    expect(await findEnvironmentSnapshot(database.pool, box, id())).toBeUndefined()
  })

  test.each(['projects', 'organizations'])(
    'returns deleted: true if its row in %s is marked as deleted',
    async table => {
      await database.pool.query(`update ${table} set deleted_at = now()`)
      expect((await findEnvironmentSnapshot(database.pool, box, seeded.environmentId))?.deleted).toBe(true)
    },
  )

  test('returns the settings of the environment and the origins of its project', async () => {
    await database.pool.query(
      `update environments set log_capture = 'metadata', allowed_models = '{openai/*,fast}', unsupported_params = 'drop',
        on_client_gone = 'drain', allow_client_passthrough = true, allow_secret_key_in_browser = true`,
    )
    expect(await findEnvironmentSnapshot(database.pool, box, seeded.environmentId)).toMatchObject({
      logCapture: 'metadata',
      allowedModels: ['openai/*', 'fast'],
      unsupportedParams: 'drop',
      onClientGone: 'drain',
      allowClientPassthrough: true,
      allowSecretKeyInBrowser: true,
      allowedOrigins: ['https://app.example'],
    })
  })

  test('returns aliases by name and custom models by provider and model', async () => {
    const environment = (await findEnvironment(database.db, seeded.environmentId)) as EnvironmentRow
    const target = { model: 'openai/gpt-x', weight: 3, timeout_ms: 1000, max_retries: null }
    await insertModelAlias(database.db, {
      ...below(environment),
      alias: 'fast',
      strategy: 'weighted',
      targets: JSON.stringify([
        target,
        { ...target, model: 'b', weight: null, timeout_ms: null, max_retries: 2 },
      ]),
    })
    const pricing = {
      input_usd_per_mtok: 1,
      output_usd_per_mtok: 2,
      cached_input_usd_per_mtok: 0.5,
      cache_write_usd_per_mtok: null,
    }
    await insertCustomModel(database.db, {
      ...below(environment),
      model: 'custom/org/llama',
      capabilities: ['tools'],
      context_window: 8192,
      max_output_tokens: null,
      pricing: JSON.stringify(pricing),
    })
    const found = await findEnvironmentSnapshot(database.pool, box, seeded.environmentId)
    expect(found?.aliases).toEqual(
      new Map([
        [
          'fast',
          {
            name: 'fast',
            strategy: 'weighted',
            targets: [
              { model: 'openai/gpt-x', weight: 3, timeoutMs: 1000, maxRetries: null },
              { model: 'b', weight: null, timeoutMs: null, maxRetries: 2 },
            ],
          },
        ],
      ]),
    )
    expect(found?.customModels.get('custom/org/llama')).toEqual({
      id: 'org/llama',
      display_name: 'org/llama',
      context_window: 8192,
      max_output_tokens: null,
      capabilities: ['tools'],
      pricing: { input: 1, output: 2, cache_read: 0.5 },
    })
  })

  test('returns the policies that apply in the environment, and no others', async () => {
    const { db } = database
    const environment = (await findEnvironment(db, seeded.environmentId)) as EnvironmentRow
    const stranger = await addTree(db)
    const key = await addKey(db, environment)
    const strangerKey = await addKey(db, stranger.environment)
    const rate = { metric: 'requests', limit: 10, window_seconds: 60 } as const
    const organizationLimit = { ...below(environment), project_id: null, environment_id: null, ...rate }
    const limitOf = (scope: 'org' | 'project' | 'environment' | 'key', scope_ref: string | null) =>
      insertLimit(db, { ...organizationLimit, id: id(), scope, scope_ref })
    const expected = [
      (await limitOf('org', null)).id,
      (await limitOf('project', seeded.projectId)).id,
      (await limitOf('environment', seeded.environmentId)).id,
      (await limitOf('key', key.id)).id,
      (await insertLimit(db, { ...below(environment), scope: 'end_user', scope_ref: 'u', ...rate })).id,
    ]
    await limitOf('project', stranger.project.id)
    await limitOf('environment', stranger.environment.id)
    await limitOf('key', strangerKey.id)
    await insertLimit(db, { ...below(stranger.environment), scope: 'environment', scope_ref: null, ...rate })
    const spend = { limit_nano_usd: 5, window: 'month', alert_pcts: [80], on_tight: 'refuse' } as const
    const { environment_id: _, ...projectOwner } = below(environment)
    const budgetOf = (project_id: string | null, scope: 'key' | null, scope_ref: string | null) =>
      insertBudget(db, {
        ...projectOwner,
        id: id(),
        project_id,
        scope,
        scope_ref,
        ...spend,
        alert_pcts: [80],
      })
    const budgets = [
      (await budgetOf(null, null, null)).id,
      (await budgetOf(seeded.projectId, null, null)).id,
      (await budgetOf(null, 'key', key.id)).id,
    ]
    await budgetOf(null, 'key', strangerKey.id)
    const found = await findEnvironmentSnapshot(database.pool, box, seeded.environmentId)
    expect(found?.policies.limits.map(limit => limit.id).sort()).toEqual(expected.sort())
    expect(found?.policies.budgets.map(budget => budget.id).sort()).toEqual(budgets.sort())
    expect(found?.policies.limits[0]).toMatchObject({ windowMs: 60_000, metric: 'requests', limit: 10 })
    expect(found?.policies.budgets[0]).toMatchObject({
      limitNanoUsd: 5,
      window: 'month',
      alertPcts: [80],
      onTight: 'refuse',
    })
    expect(found?.policies).toMatchObject({
      timeZone: 'UTC',
      quotas: [],
      plans: [],
      hasSpecialEndUsers: false,
    })
  })

  test('tells whether an end user of the environment has a plan or is blocked', async () => {
    const { db } = database
    const environment = (await findEnvironment(db, seeded.environmentId)) as EnvironmentRow
    const hasSpecial = async (): Promise<boolean | undefined> =>
      (await findEnvironmentSnapshot(database.pool, box, environment.id))?.policies.hasSpecialEndUsers
    const endUserId = await addEndUser(db, environment, 'alice')
    expect(await hasSpecial()).toBe(false)
    await blockEndUser(db, endUserId, new Date())
    expect(await hasSpecial()).toBe(true)
  })

  test('returns secret options of a credential decrypted, beside the others', async () => {
    const credentialId = await addCredential('temporary', '2026-01-01T00:00:00Z')
    const seal = async (context: string): Promise<void> => {
      const cipher = box.seal('{"session_token":"hidden"}', context)
      await database.pool.query('update provider_credentials set options_cipher = $1', [cipher])
    }
    await seal(`provider_credentials.options:${credentialId}`)
    const found = await findEnvironmentSnapshot(database.pool, box, seeded.environmentId)
    expect(found?.credentials[0]?.options).toEqual({ a: 1, session_token: 'hidden' })
    for (const context of [`provider_credentials:${credentialId}`, `provider_credentials.options:${id()}`]) {
      await seal(context)
      const again = findEnvironmentSnapshot(database.pool, box, seeded.environmentId)
      await expect(again).rejects.toThrow('belongs to another row')
    }
  })

  test('rejects a secret that was copied from another row', async () => {
    await addCredential('moved', '2026-01-01T00:00:00Z', `provider_credentials:${id()}`)
    await expect(findEnvironmentSnapshot(database.pool, box, seeded.environmentId)).rejects.toThrow(
      'belongs to another row',
    )
  })
})
