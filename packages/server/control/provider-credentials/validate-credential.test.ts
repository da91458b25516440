import { findProvider } from '@rideau/llm/providers/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import { checkCredential } from './check-credential.ts'
import type { CredentialResource } from './credential-resource.ts'

type CredentialRecord = z.output<typeof CredentialResource>

const API_KEY = 'sk-canary-1234567890abcdef'

let plane: ControlPlane
let tenant: Tenant
let upstream: ScriptedUpstream
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  upstream = await openScriptedUpstream({ scriptsLists: true })
})
afterAll(async () => {
  await upstream.close()
  await plane.close()
})

async function create(fields: object, on = plane, by = tenant): Promise<string> {
  const path = `/v1/environments/${by.development.id}/provider-credentials`
  const body = { provider: 'openai', name: 'n', api_key: API_KEY, base_url: upstream.baseUrl, ...fields }
  return (await on.call<CredentialRecord>('POST', path, { key: by.keys.developer, body })).json.id
}

const validate = (id: string, on = plane, by = tenant) =>
  on.call<CredentialRecord>('POST', `/v1/provider-credentials/${id}/validate`, { key: by.keys.developer })

const discovered = async (id: string): Promise<string[] | undefined> =>
  (
    await plane.database.db
      .selectFrom('provider_credentials')
      .select('discovered_models')
      .where('id', '=', id)
      .executeTakeFirst()
  )?.discovered_models

const models = (...ids: unknown[]): UpstreamAnswer =>
  json(200, { object: 'list', data: ids.map(id => ({ id, object: 'model' })) })

test('200: sends the key to the stored address and stores the models that it can use', async () => {
  const id = await create({})
  upstream.script(models('gpt-new', 'gpt-new', '', 7, 'x'.repeat(257), 'a\u0000b', 'other'))
  plane.clock.advance(1000)
  const { status, json: record } = await validate(id)
  expect(status).toBe(200)
  expect(record).toMatchObject({
    last_validated_at: new Date(plane.clock.now()).toISOString(),
    validation_error: null,
  })
  expect(upstream.requests.at(-1)).toMatchObject({
    path: '/v1/models',
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  expect(await discovered(id)).toEqual(['gpt-new', 'other'])
})

test.each<[string, UpstreamAnswer, RegExp]>([
  ['401', json(401, { error: { message: `bad key ${API_KEY}` } }), /refused this credential/],
  ['403', json(403, {}), /refused this credential/],
  ['429', json(429, {}), /limits the rate/],
  ['500', json(500, { error: 'secret detail' }), /status 500/],
  ['404', json(404, {}), /status 404/],
  ['a body without a list', json(200, { data: 'models' }), /list of models/],
  ['a body that is not JSON', res => void res.writeHead(200).end('<html>'), /list of models/],
  ['a broken connection', res => void res.destroy(), /could not be reached/],
])('200 with a validation_error that repeats nothing of the response: %s', async (_, answer, words) => {
  const id = await create({})
  upstream.script(models('kept'))
  await validate(id)
  upstream.script(answer)
  const { status, json: record, text } = await validate(id)
  expect([status, record.validation_error]).toEqual([200, expect.stringMatching(words)])
  expect(text).not.toMatch(/bad key|secret detail|canary/)
  expect(await discovered(id)).toEqual(['kept'])
})

test('does not follow a redirect', async () => {
  const id = await create({})
  const elsewhere = await openScriptedUpstream({ scriptsLists: true })
  elsewhere.script(models('stolen'))
  upstream.script(res => void res.writeHead(307, { location: `${elsewhere.baseUrl}/models` }).end())
  expect((await validate(id)).json.validation_error).toMatch(/redirects/)
  expect(elsewhere.requests).toEqual([])
  await elsewhere.close()
})

test('accepts the key and stops reading if the list is too large', async () => {
  const id = await create({})
  upstream.script(json(200, { data: [], filler: 'x'.repeat(2 * 1024 * 1024) }))
  expect((await validate(id)).json.validation_error).toBeNull()
  expect(await discovered(id)).toEqual([])
})

test("sends the key, and everything else that a request needs, in the provider's own way", async () => {
  const id = await create({ provider: 'anthropic' })
  upstream.script(json(200, { data: [{ type: 'model', id: 'claude-new' }], has_more: false }))
  expect((await validate(id)).json.validation_error).toBeNull()
  expect(await discovered(id)).toEqual(['claude-new'])
  const { path, headers } = upstream.requests.at(-1) as (typeof upstream.requests)[number]
  expect(path).toBe('/v1/models?limit=1000')
  expect(headers).toMatchObject({ 'x-api-key': API_KEY, 'anthropic-version': '2023-06-01' })
  expect(headers.authorization).toBeUndefined()
})

test('stores at most 5,000 models', async () => {
  const id = await create({})
  upstream.script(models(...Array.from({ length: 5_100 }, (_, n) => `model-${n}`)))
  await validate(id)
  expect(await discovered(id)).toHaveLength(5_000)
})

test('reports a provider that does not respond in time', async () => {
  upstream.script(() => {})
  const provider = findProvider('openai') as NonNullable<ReturnType<typeof findProvider>>
  const credential = { provider, baseUrl: upstream.baseUrl, apiKey: API_KEY }
  expect(
    await checkCredential(credential, openConfiguredEgress({ allowPrivate: true }), 100, plane.clock.now()),
  ).toEqual({
    error: 'The provider did not answer in time.',
    models: undefined,
  })
})

test('accepts any key for the sandbox, without a call', async () => {
  const id = await create({ provider: 'sandbox', api_key: null, base_url: null })
  const seen = upstream.requests.length
  expect((await validate(id)).json).toMatchObject({
    validation_error: null,
    last_validated_at: new Date(plane.clock.now()).toISOString(),
  })
  expect(upstream.requests).toHaveLength(seen)
})

test('stores no result for a credential that changes during its validation', async () => {
  const id = await create({})
  const begun = withResolvers()
  const release = withResolvers()
  upstream.script(async (res, seen) => {
    begun.resolve()
    await release.promise
    await models('old')(res, seen)
  })
  const validating = validate(id)
  await begun.promise
  plane.clock.advance(1000)
  await plane.call('PATCH', `/v1/provider-credentials/${id}`, {
    key: tenant.keys.developer,
    body: { api_key: 'sk-new' },
  })
  release.resolve()
  expect((await validating).json).toMatchObject({ last_validated_at: null, validation_error: null })
  expect(await discovered(id)).toEqual([])
})

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}

describe('if private addresses are not allowed', () => {
  let guarded: ControlPlane
  let owner: Tenant
  beforeAll(async () => {
    guarded = await openControlPlane({ egress: openConfiguredEgress({ allowPrivate: false }) })
    owner = await guarded.insertTenant('guarded')
  })
  afterAll(() => guarded.close())

  test.each([
    '',
    'https://127.0.0.1/v1',
    'https://[::1]/v1',
    'https://localhost/v1',
    'https://169.254.169.254/v1',
  ])('rejects %s before a byte is sent', async base_url => {
    const seen = upstream.requests.length
    // A credential from before the setting changed: today it would be refused.
    const id = await guarded.insertCredential(owner, API_KEY)
    await guarded.database.pool.query(
      "update provider_credentials set provider = 'custom', base_url = $2 where id = $1",
      [id, base_url === '' ? upstream.baseUrl : base_url],
    )
    const { status, json: record } = await validate(id, guarded, owner)
    expect([status, record.validation_error]).toEqual([
      200,
      'The address of this credential is not allowed here.',
    ])
    expect(upstream.requests).toHaveLength(seen)
  })
})

test('sends credential.invalid once while a key stays rejected', async () => {
  const there = await plane.insertTenant('events')
  const hook = { url: 'https://hooks.example.com', events: ['credential.invalid'] }
  const path = `/v1/orgs/${there.organization.id}/webhooks`
  await plane.call('POST', path, { key: there.keys.admin, body: hook })
  const id = await create({}, plane, there)
  upstream.script(json(401, {}), json(401, {}), models('a'), json(500, {}), json(403, {}))
  for (let n = 0; n < 5; n++) expect((await validate(id, plane, there)).status).toBe(200)
  const { rows } = await plane.database.pool.query(
    `select after from audit_log where operation = 'credential.invalid' and resource_id = $1`,
    [id],
  )
  expect(rows).toHaveLength(2)
  expect(JSON.stringify(rows)).not.toContain(API_KEY)
  const sent = await plane.database.pool.query('select payload from webhook_deliveries where org_id = $1', [
    there.organization.id,
  ])
  expect(sent.rows.map(row => JSON.parse(row.payload).data.provider_credential_id)).toEqual([id, id])
})
