import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { OPTIONS_CONTEXT, openOptions } from '../../storage/secrets/secret-options.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { CredentialResource } from './credential-resource.ts'

type CredentialRecord = z.output<typeof CredentialResource>

const API_KEY = 'sk-canary-1234567890abcdef'

let plane: ControlPlane
let tenant: Tenant
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.developer
})
afterAll(() => plane.close())

const create = async (body: object): Promise<CredentialRecord> => {
  const path = `/v1/environments/${tenant.development.id}/provider-credentials`
  return (await plane.call<CredentialRecord>('POST', path, { key, body })).json
}
const change = (id: string, body: unknown) =>
  plane.call<CredentialRecord>('PATCH', `/v1/provider-credentials/${id}`, { key, body })
const stored = async (id: string) => {
  const row = await plane.database.db
    .selectFrom('provider_credentials')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { ...row, apiKey: plane.secretBox.open(row.secret_cipher, `provider_credentials:${id}`) }
}

describe('PATCH of a credential whose secrets were encrypted with a lost key', () => {
  test('changes its name, refuses a new host without its secrets, and is repaired by all of them', async () => {
    const options = { region: 'us-east-1', access_key_id: 'AKIA1234', session_token: 'old-token' }
    const { id } = await create({ provider: 'bedrock', name: 'lost', api_key: API_KEY, options })
    const lost = openSecretBox(Buffer.alloc(32, 9), systemRandom)
    await plane.database.db
      .updateTable('provider_credentials')
      .set({
        secret_cipher: lost.seal(API_KEY, `provider_credentials:${id}`),
        options_cipher: lost.seal('{"session_token":"old-token"}', `${OPTIONS_CONTEXT}:${id}`),
      })
      .where('id', '=', id)
      .execute()
    expect((await change(id, { name: 'renamed' })).status).toBe(200)
    const moved = await change(id, { base_url: 'http://127.0.0.1:1', api_key: 'sk-new' })
    expect(moved.outcome).toBe('400 invalid_request options')
    const renewed = { ...options, session_token: 'new-token' }
    expect((await change(id, { options: renewed })).outcome).toBe('400 invalid_request api_key')
    expect((await change(id, { options: renewed, api_key: 'sk-new' })).status).toBe(200)
    const row = await stored(id)
    expect([row.apiKey, openOptions(plane.secretBox, row)]).toEqual(['sk-new', renewed])
  })
})

describe('PATCH', () => {
  let made: CredentialRecord
  beforeEach(async () => {
    made = await create({
      provider: 'custom-llama',
      name: 'Main',
      api_key: API_KEY,
      base_url: 'http://127.0.0.1:1/v1',
      weight: 5,
    })
  })

  test('200: changes only the fields that were sent', async () => {
    plane.clock.advance(1000)
    const { status, json } = await change(made.id, { name: 'Renamed' })
    const updated_at = new Date(plane.clock.now()).toISOString()
    expect([status, json]).toEqual([200, { ...made, name: 'Renamed', updated_at }])
    expect((await change(made.id, { weight: null })).json.weight).toBe(1)
    expect(await stored(made.id)).toMatchObject({ apiKey: API_KEY, base_url: 'http://127.0.0.1:1/v1' })
  })

  test('a new key changes the fingerprint and clears the result of the last validation', async () => {
    await plane.database.db
      .updateTable('provider_credentials')
      .set({ validation_error: 'refused', last_validated_at: new Date(), discovered_models: ['m'] })
      .where('id', '=', made.id)
      .execute()
    const { json } = await change(made.id, { api_key: 'sk-other' })
    expect(json.key_fingerprint).not.toBe(made.key_fingerprint)
    expect(json).toMatchObject({ validation_error: null, last_validated_at: null })
    expect(await stored(made.id)).toMatchObject({ apiKey: 'sk-other', discovered_models: ['m'] })
  })

  test.each([{ base_url: 'https://evil.example/v1' }, { base_url: 'http://127.0.0.1:1/v2' }])(
    '400 invalid_request api_key: %j without the key, which stays unchanged',
    async body => {
      const answer = await change(made.id, body)
      expect(answer.outcome).toBe('400 invalid_request api_key')
      expect(await stored(made.id)).toMatchObject({ apiKey: API_KEY, base_url: 'http://127.0.0.1:1/v1' })
    },
  )

  test('accepts a new address with the key, and the same address without it', async () => {
    const same = await change(made.id, { base_url: 'HTTP://127.0.0.1:1/v1/', options: {} })
    expect([same.status, same.json.base_url]).toEqual([200, 'http://127.0.0.1:1/v1'])
    await plane.database.db
      .updateTable('provider_credentials')
      .set({ discovered_models: ['m'] })
      .where('id', '=', made.id)
      .execute()
    const other = await change(made.id, { base_url: 'http://127.0.0.1:2/v1', api_key: 'sk-other' })
    expect([other.status, other.json.base_url]).toEqual([200, 'http://127.0.0.1:2/v1'])
    expect(await stored(made.id)).toMatchObject({ apiKey: 'sk-other', discovered_models: [] })
  })

  test('sends no key after it was removed, and lets a credential without a key change its address', async () => {
    const cleared = await change(made.id, { base_url: 'http://127.0.0.1:3/v1', api_key: null })
    expect([cleared.status, cleared.json.key_fingerprint]).toEqual([200, 'none'])
    expect((await change(made.id, { base_url: 'http://127.0.0.1:4/v1' })).status).toBe(200)
  })

  test('a change of a secret option needs the key, is stored encrypted and stays hidden; null removes it', async () => {
    const shown = { region: 'eu-west-1', access_key_id: 'AKIDEXAMPLE' }
    const options = { ...shown, session_token: 'first' }
    const { id } = await create({
      provider: 'bedrock',
      name: 'Temporary',
      api_key: API_KEY,
      base_url: 'http://127.0.0.1:1/v1',
      options,
    })
    const secret = async (): Promise<unknown> => {
      const { options: clear, options_cipher: cipher } = await stored(id)
      expect(clear).toEqual(shown)
      return cipher && JSON.parse(plane.secretBox.open(cipher, `provider_credentials.options:${id}`))
    }
    const second = { ...shown, session_token: 'second' }
    expect((await change(id, { options })).status).toBe(200)
    expect((await change(id, { options: second })).outcome).toBe('400 invalid_request api_key')
    expect((await change(id, { options: shown })).outcome).toBe('400 invalid_request api_key')
    expect(await secret()).toEqual({ session_token: 'first' })
    const changed = await change(id, { options: second, api_key: API_KEY })
    expect([changed.status, changed.json.options]).toEqual([200, shown])
    expect(await secret()).toEqual({ session_token: 'second' })
    // Otherwise whoever may change a credential could have the stored secret sent to a host of his own.
    const moved = { base_url: 'http://127.0.0.1:2/v1', api_key: 'another' }
    expect((await change(id, moved)).outcome).toBe('400 invalid_request options')
    expect((await change(id, { name: 'Kept', weight: 2 })).status).toBe(200)
    expect(await secret()).toEqual({ session_token: 'second' })
    await change(id, { options: { ...shown, session_token: null }, api_key: API_KEY })
    expect(await secret()).toBeNull()
    expect((await change(id, moved)).status).toBe(200)
  })

  test("never sends the key of one of two concurrent changes to the other's address", async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await create({
        provider: 'custom-llama',
        name: 'Race',
        api_key: 'sk-0',
        base_url: 'http://127.0.0.1:10/v1',
      })
      // The second change is safe only while the address is still the one of the first.
      const [moved, kept] = await Promise.all([
        change(id, { base_url: 'http://127.0.0.1:11/v1', api_key: 'sk-1' }),
        change(id, { base_url: 'http://127.0.0.1:10/v1' }),
      ])
      expect(moved.status).toBe(200)
      const row = await stored(id)
      expect([row.base_url, row.apiKey]).toEqual(['http://127.0.0.1:11/v1', 'sk-1'])
      expect(['200', '400 invalid_request api_key']).toContain(kept.outcome)
    }
  })

  test.each([
    [{ provider: 'openai' }, 'provider'],
    [{ name: null }, 'name'],
    [{ name: '' }, 'name'],
    [{ base_url: null }, 'base_url'],
    [{ base_url: 'ftp://x' }, 'base_url'],
    [{ options: { region: 'x' } }, 'options.region'],
    [{ api_key: 'a\nb' }, 'api_key'],
    [{ weight: -1 }, 'weight'],
    [{ environment_id: 'x' }, 'environment_id'],
  ])('400 invalid_request: %j', async (body, param) => {
    expect((await change(made.id, body)).outcome).toBe(`400 invalid_request ${param}`)
  })

  test('400 invalid_request: the key of a provider that needs one cannot be removed', async () => {
    const { id } = await create({ provider: 'openai', name: 'n', api_key: API_KEY })
    expect((await change(id, { api_key: null })).outcome).toBe('400 invalid_request api_key')
  })

  test('404 across tenants, 403 for a viewer', async () => {
    const path = `/v1/provider-credentials/${made.id}`
    const other = await plane.insertTenant('other')
    const body = { name: 'x' }
    expect((await plane.call('PATCH', path, { key: other.keys.admin, body })).outcome).toBe(
      '404 resource_not_found',
    )
    expect((await plane.call('PATCH', path, { key: tenant.keys.viewer, body })).outcome).toBe(
      '403 insufficient_role',
    )
  })
})
