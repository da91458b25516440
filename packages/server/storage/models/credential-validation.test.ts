import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { addCredential, addTree, CREATED, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import { listAuditLog } from '../events/audit-log.ts'
import { insertWebhook } from '../events/webhooks.ts'
import type { Db } from '../pool.ts'
import {
  CREDENTIAL_REJECTED,
  type CredentialValidation,
  markCredentialRejected,
  updateCredentialValidation,
} from './credential-validation.ts'
import {
  findProviderCredential,
  type ProviderCredentialRow,
  removeProviderCredential,
  updateProviderCredential,
} from './provider-credentials.ts'

const AT = new Date(CREATED.getTime() + 60_000)
const deps = { clock: { now: () => AT.getTime() }, newId }
const VALID: CredentialValidation = { at: AT, error: null, models: ['gpt-x'] }
const REJECTED: CredentialValidation = { at: AT, error: CREDENTIAL_REJECTED, models: undefined }

describe.each(listTestServers())('validation of provider credentials on $label', server => {
  let database: FreshDatabase
  let db: Db
  let tree: Tree
  let credential: ProviderCredentialRow
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(db)
    credential = await addCredential(db, tree.environment)
  })

  const store = (validation: CredentialValidation, of: ProviderCredentialRow = credential) =>
    db.transaction().execute(tx => updateCredentialValidation(tx, of, validation, deps))
  const used = () => ({ id: credential.id, updatedAt: credential.updated_at.getTime() })
  const countEvents = async (): Promise<number> => {
    const page = { limit: 100, after: undefined }
    return (await listAuditLog(db, tree.organization.id, { operation: 'credential.invalid' }, page)).length
  }

  test('stores the time, the error and the listed models', async () => {
    const stored = {
      ...credential,
      last_validated_at: AT,
      validation_error: null,
      discovered_models: ['gpt-x'],
    }
    expect(await store(VALID)).toEqual(stored)
    expect(await findProviderCredential(db, credential.id)).toEqual(stored)
    expect(await countEvents()).toBe(0)
  })

  test('keeps the stored models if the provider gave no list, and clears them for an empty list', async () => {
    await store(VALID)
    expect((await store({ ...VALID, models: undefined }))?.discovered_models).toEqual(['gpt-x'])
    expect((await store({ ...VALID, models: [] }))?.discovered_models).toEqual([])
  })

  test('drops the result of a credential that was changed in the meantime', async () => {
    const changed = await updateProviderCredential(db, credential.id, { weight: 5 }, AT)
    expect(await store(REJECTED)).toEqual(changed)
    expect(await countEvents()).toBe(0)
  })

  test('returns undefined for a credential that was removed in the meantime', async () => {
    await removeProviderCredential(db, credential.id)
    expect(await store(VALID)).toBeUndefined()
  })

  test('creates one event when the provider begins to reject the credential', async () => {
    await store(REJECTED)
    await store(REJECTED)
    expect(await countEvents()).toBe(1)
    await store({ ...VALID, error: 'the provider is overloaded' })
    expect(await countEvents()).toBe(1)
    await store(REJECTED)
    expect(await countEvents()).toBe(2)
  })

  test('a rejection reported by three requests at once creates one event and one delivery', async () => {
    const owner = { id: newId(), org_id: tree.organization.id, created_at: CREATED, updated_at: CREATED }
    const hook = { url: 'https://hooks.example', events: ['credential.invalid'], secret_cipher: Buffer.of(0) }
    await insertWebhook(db, { ...owner, ...hook })
    await Promise.all([1, 2, 3].map(() => markCredentialRejected(db, used(), CREDENTIAL_REJECTED, deps)))
    expect(await countEvents()).toBe(1)
    const query = db.selectFrom('webhook_deliveries').select('payload').where('webhook_id', '=', owner.id)
    const [delivery, ...others] = await query.execute()
    expect(others).toEqual([])
    expect(JSON.parse(delivery?.payload ?? '')).toEqual({
      type: 'credential.invalid',
      timestamp: AT.toISOString(),
      data: {
        provider_credential_id: credential.id,
        org_id: tree.organization.id,
        project_id: tree.project.id,
        environment_id: tree.environment.id,
        provider: 'openai',
        name: 'credential',
        validation_error: CREDENTIAL_REJECTED,
      },
    })
  })

  test('a rejection of what the credential was before a change is dropped', async () => {
    const before = used()
    await updateProviderCredential(db, credential.id, { weight: 5 }, AT)
    await markCredentialRejected(db, before, CREDENTIAL_REJECTED, deps)
    expect((await findProviderCredential(db, credential.id))?.validation_error).toBeNull()
    expect(await countEvents()).toBe(0)
  })

  test('a rejection does not change updated_at, so that a running validation is still stored', async () => {
    await markCredentialRejected(db, used(), CREDENTIAL_REJECTED, deps)
    expect((await findProviderCredential(db, credential.id))?.updated_at).toEqual(credential.updated_at)
    expect((await store(VALID))?.validation_error).toBeNull()
  })
})
