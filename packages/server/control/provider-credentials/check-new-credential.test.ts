import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
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

const create = (path: string, fields: object = {}) =>
  plane.call<CredentialRecord>('POST', `/v1/${path}/provider-credentials`, {
    key: tenant.keys.developer,
    body: { provider: 'openai', name: 'n', api_key: API_KEY, base_url: upstream.baseUrl, ...fields },
  })
const inEnvironment = () => `environments/${tenant.development.id}`
const stored = async (id: string) =>
  await plane.database.db
    .selectFrom('provider_credentials')
    .select(['discovered_models', 'refresh_at', 'refresh_failures'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const later = (ms: number) => new Date(plane.clock.now() + ms)
const models: UpstreamAnswer = json(200, { data: [{ id: 'gpt-new' }] })

test("stores a new credential with its provider's models, and asks again in an hour", async () => {
  upstream.script(models)
  const { status, json: record } = await create(inEnvironment())
  const now = new Date(plane.clock.now()).toISOString()
  expect([status, record]).toMatchObject([201, { last_validated_at: now, validation_error: null }])
  expect(upstream.requests.at(-1)).toMatchObject({
    path: '/v1/models',
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  expect(await stored(record.id)).toEqual({
    discovered_models: ['gpt-new'],
    refresh_at: later(3_600_000),
    refresh_failures: 0,
  })
})

test('does the same for a credential that is created below its project', async () => {
  upstream.script(models)
  const environment_id = tenant.production.id
  const { json: record } = await create(`projects/${tenant.project.id}`, { environment_id })
  expect(record).toMatchObject({ environment_id, validation_error: null })
  expect((await stored(record.id)).discovered_models).toEqual(['gpt-new'])
})

test.each<[string, UpstreamAnswer, RegExp]>([
  ['rejects the key', json(401, { error: { message: `bad key ${API_KEY}` } }), /refused this credential/],
  ['fails', json(500, {}), /status 500/],
  ['lists no models', json(200, {}), /list of models/],
  ['does not answer', () => {}, /did not answer in time/],
])('stores a new credential whose provider %s with 201 and a validation_error', async (_, answer, words) => {
  upstream.script(answer)
  const { status, text, json: record } = await create(inEnvironment())
  expect([status, record.validation_error]).toEqual([201, expect.stringMatching(words)])
  expect(text).not.toContain('canary')
  expect(await stored(record.id)).toEqual({
    discovered_models: [],
    refresh_at: later(300_000),
    refresh_failures: 1,
  })
})

test('never calls a provider about a key for the sandbox', async () => {
  const seen = upstream.requests.length
  const { json: record } = await create(inEnvironment(), {
    provider: 'sandbox',
    api_key: null,
    base_url: null,
  })
  expect(record.validation_error).toBeNull()
  expect((await stored(record.id)).refresh_at).toBeNull()
  expect(upstream.requests).toHaveLength(seen)
})
