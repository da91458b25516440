import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../core/chance.ts'
import { openIds } from '../core/ids.ts'
import { hashKeyText } from '../core/key-format.ts'
import { openSecretBox } from '../core/secret-box.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../testing/harness/seed-environment.ts'
import { findEnvironment, findKey } from './snapshots.ts'

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

  test('a key is found by its hash, with everything that limits it', async () => {
    const hash = hashKeyText('rd_sk_dev_test')
    const keyId = id()
    await database.pool.query(
      `insert into keys (id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes,
          allowed_models, allowed_endpoints, max_request_cost_nano_usd, expires_at, created_at, updated_at)
        values ($1, $2, $3, $4, 'secret', 'k', $5, 'rd', '{ai.chat}', '{openai/*}', '{chat}', 5000000000,
          '2030-01-01T00:00:00Z', now(), now())`,
      [keyId, seeded.orgId, seeded.projectId, seeded.environmentId, hash],
    )
    expect(await findKey(database.pool, hash)).toEqual({
      id: keyId,
      kind: 'secret',
      environmentId: seeded.environmentId,
      scopes: ['ai.chat'],
      allowedModels: ['openai/*'],
      allowedEndpoints: ['chat'],
      maxRequestCostNanoUsd: 5_000_000_000,
      expiresAt: Date.UTC(2030, 0, 1),
      revokedAt: null,
    })
    expect(await findKey(database.pool, hashKeyText('another'))).toBeUndefined()
  })

  test('an environment comes with its credentials in the clear, oldest first', async () => {
    const younger = await addCredential('younger', '2026-02-01T00:00:00Z')
    const older = await addCredential('older', '2026-01-01T00:00:00Z')
    const found = await findEnvironment(database.pool, box, seeded.environmentId)
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
        discovered: new Set(),
      },
      expect.objectContaining({ id: younger, apiKey: 'sk-younger' }),
    ])
  })

  test('one without credentials has none, and an unknown id gives nothing', async () => {
    expect((await findEnvironment(database.pool, box, seeded.environmentId))?.credentials).toEqual([])
    expect(await findEnvironment(database.pool, box, id())).toBeUndefined()
  })

  test.each(['projects', 'organizations'])('a tombstone in %s makes it deleted', async table => {
    await database.pool.query(`update ${table} set deleted_at = now()`)
    expect((await findEnvironment(database.pool, box, seeded.environmentId))?.deleted).toBe(true)
  })

  test('a ciphertext of another row does not open', async () => {
    await addCredential('moved', '2026-01-01T00:00:00Z', `provider_credentials:${id()}`)
    await expect(findEnvironment(database.pool, box, seeded.environmentId)).rejects.toThrow(
      'belongs elsewhere',
    )
  })
})
