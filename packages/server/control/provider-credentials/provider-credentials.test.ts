import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { CredentialResource } from './credential-resource.ts'

type CredentialRecord = z.output<typeof CredentialResource>

const API_KEY = 'sk-canary-1234567890abcdef'

let plane: ControlPlane
let tenant: Tenant
let key: string
let path: string
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.developer
  path = `/v1/environments/${tenant.development.id}/provider-credentials`
})
afterAll(() => plane.close())

const valid = { provider: 'openai', name: 'Main', api_key: API_KEY }
const create = (body: unknown) => plane.call<CredentialRecord>('POST', path, { key, body })
const stored = (id: string) =>
  plane.database.db.selectFrom('provider_credentials').selectAll().where('id', '=', id).executeTakeFirst()

describe('create', () => {
  test('201 with the record; the key is sealed for this row alone', async () => {
    const { status, json } = await create({ ...valid, api_key: `  ${API_KEY}\n` })
    expect(status).toBe(201)
    const now = new Date(plane.clock.now()).toISOString()
    expect(json).toEqual({
      id: expect.any(String),
      project_id: tenant.project.id,
      environment_id: tenant.development.id,
      provider: 'openai',
      name: 'Main',
      key_fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      base_url: null,
      options: {},
      weight: 1,
      last_validated_at: now,
      validation_error: 'The provider could not be reached.',
      created_at: now,
      updated_at: now,
    })
    const row = await stored(json.id)
    expect(plane.secretBox.open(row?.secret_cipher as Buffer, `provider_credentials:${json.id}`)).toBe(
      API_KEY,
    )
    const another = `provider_credentials:${plane.newId()}`
    expect(() => plane.secretBox.open(row?.secret_cipher as Buffer, another)).toThrow()
  })

  test('the fingerprint depends on the key alone and contains none of its text', async () => {
    const first = await create(valid)
    const same = await create({ ...valid, name: 'Again' })
    const other = await create({ ...valid, api_key: `${API_KEY}x` })
    expect(same.json.key_fingerprint).toBe(first.json.key_fingerprint)
    expect(other.json.key_fingerprint).not.toBe(first.json.key_fingerprint)
  })

  test('accepts an environment in the body if it belongs to the project', async () => {
    const below = `/v1/projects/${tenant.project.id}/provider-credentials`
    const body = { ...valid, environment_id: tenant.production.id }
    const made = await plane.call<CredentialRecord>('POST', below, { key, body })
    expect(made.json).toMatchObject({ environment_id: tenant.production.id, project_id: tenant.project.id })
    const other = await plane.insertTenant('other')
    for (const environment_id of [other.development.id, plane.newId()]) {
      const { outcome } = await plane.call('POST', below, { key, body: { ...valid, environment_id } })
      expect(outcome).toBe('404 resource_not_found environment_id')
    }
    expect((await plane.call('POST', below, { key, body: valid })).outcome).toBe(
      '400 invalid_request environment_id',
    )
  })

  test('stores address and weight', async () => {
    const { json } = await create({
      ...valid,
      provider: 'custom-llama',
      base_url: 'HTTP://LocalHost:8080/v1//',
      options: {},
      weight: 0,
    })
    expect(json).toMatchObject({ provider: 'custom-llama', base_url: 'http://localhost:8080/v1', weight: 0 })
    expect((await stored(json.id))?.options).toEqual({})
  })

  test('stores secret options encrypted, and returns the other ones in the record, lists and the audit log', async () => {
    const shown = { region: 'eu-west-1', access_key_id: 'AKIDEXAMPLE' }
    const options = { ...shown, session_token: 'canary-of-a-session' }
    const fields = { provider: 'bedrock', name: 'n', api_key: 'k', base_url: 'http://127.0.0.1:1/v1' }
    const made = await create({ ...fields, options })
    expect(made.json.options).toEqual(shown)
    const row = await stored(made.json.id)
    expect(row?.options).toEqual(shown)
    const context = `provider_credentials.options:${made.json.id}`
    const sealed = plane.secretBox.open(row?.options_cipher as Buffer, context)
    expect(JSON.parse(sealed)).toEqual({ session_token: 'canary-of-a-session' })
    const read = await plane.call<CredentialRecord>('GET', `/v1/provider-credentials/${made.json.id}`, {
      key,
    })
    expect(read.json).toEqual(made.json)
    const all = await plane.call('GET', path, { key })
    expect(all.text).toContain('AKIDEXAMPLE')
    const { rows } = await plane.database.pool.query('select after from audit_log where resource_id = $1', [
      made.json.id,
    ])
    expect(JSON.stringify(rows)).toContain('AKIDEXAMPLE')
    for (const text of [made.text, read.text, all.text, JSON.stringify(rows)]) {
      expect(text).not.toContain('canary-of-a-session')
    }
  })

  test('needs no key for a provider that uses none', async () => {
    const { status, json } = await create({ provider: 'ollama', name: 'local', api_key: null })
    expect([status, json.key_fingerprint]).toEqual([201, 'none'])
  })

  test.each([
    [{ provider: 'opnai' }, 'provider'],
    [{ provider: 'custom-' }, 'provider'],
    [{ provider: 'constructor' }, 'provider'],
    [{ provider: 'custom-x' }, 'base_url'],
    [{ name: undefined }, 'name'],
    [{ api_key: undefined }, 'api_key'],
    [{ api_key: null }, 'api_key'],
    [{ api_key: '   ' }, 'api_key'],
    [{ api_key: 'a\nb' }, 'api_key'],
    [{ api_key: 'schlüssel' }, 'api_key'],
    [{ api_key: 'x'.repeat(8193) }, 'api_key'],
    [{ base_url: 'ftp://example.com' }, 'base_url'],
    [{ base_url: 'example.com/v1' }, 'base_url'],
    [{ base_url: 'https://u:p@example.com/v1' }, 'base_url'],
    [{ base_url: 'https://example.com/v1?' }, 'base_url'],
    [{ base_url: 'https://example.com/v1?a=b' }, 'base_url'],
    [{ base_url: 'https://example.com/v1#x' }, 'base_url'],
    [{ base_url: 'https://' }, 'base_url'],
    [{ weight: -1 }, 'weight'],
    [{ weight: 1001 }, 'weight'],
    [{ weight: 1.5 }, 'weight'],
    [{ options: [] }, 'options'],
    [{ options: { region: 'x' } }, 'options.region'],
    [{ options: { a: null } }, 'options.a'],
    [{ secret: 'x' }, 'secret'],
  ])('400 invalid_request: %j', async (change, param) => {
    const answer = await create({ ...valid, ...change })
    expect(answer.outcome).toBe(`400 invalid_request ${param}`)
    expect(answer.text).not.toContain(API_KEY)
  })

  test('400 invalid_request: a number outside the range of JSON', async () => {
    const raw = `{"provider":"openai","name":"n","api_key":"k","options":{"a":1e999}}`
    const headers = { 'content-type': 'application/json' }
    const { outcome } = await plane.call('POST', path, { key, raw, headers })
    expect(outcome).toBe('400 invalid_request options.a')
  })
})

test('the key is in no response, no log line and no row in plaintext', async () => {
  const { db } = plane.database
  const { json } = await create(valid)
  const one = `/v1/provider-credentials/${json.id}`
  const below = `/v1/projects/${tenant.project.id}/provider-credentials`
  for (const at of [path, below, one]) {
    const { status, text } = await plane.call('GET', at, { key: tenant.keys.admin })
    expect(status).toBe(200)
    expect(text).not.toContain(API_KEY)
  }
  expect(plane.logged()).not.toContain(API_KEY)
  const row = await db
    .selectFrom('provider_credentials')
    .selectAll()
    .where('id', '=', json.id)
    .executeTakeFirst()
  expect(JSON.stringify({ ...row, secret_cipher: row?.secret_cipher.toString('latin1') })).not.toContain(
    API_KEY,
  )
})

test('credentials are listed by environment and by project, and removed', async () => {
  const other = await plane.insertTenant('lists')
  const credential = { key: other.keys.developer }
  const inDevelopment = `/v1/environments/${other.development.id}/provider-credentials`
  const inProduction = `/v1/environments/${other.production.id}/provider-credentials`
  const inProject = `/v1/projects/${other.project.id}/provider-credentials`
  const idsOf = async (at: string): Promise<string[]> =>
    (await plane.call<List<CredentialRecord>>('GET', at, credential)).json.data.map(({ id }) => id)
  const [sandbox = ''] = await idsOf(inDevelopment)
  expect(await idsOf(inProduction)).toEqual([])
  plane.clock.advance(1)
  const made = await plane.call<CredentialRecord>('POST', inProduction, { ...credential, body: valid })
  expect(await idsOf(inProduction)).toEqual([made.json.id])
  expect(await idsOf(inProject)).toEqual([made.json.id, sandbox])
  expect((await plane.call('DELETE', `/v1/provider-credentials/${made.json.id}`, credential)).status).toBe(
    204,
  )
  expect(await idsOf(inProject)).toEqual([sandbox])
  expect((await plane.call('GET', `/v1/provider-credentials/${made.json.id}`, credential)).outcome).toBe(
    '404 resource_not_found',
  )
})
