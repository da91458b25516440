import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { CredentialResource } from './credential-resource.ts'

/** Credentials of providers that list models in a format of their own, or whose requests are signed. */

type CredentialRecord = z.output<typeof CredentialResource>

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

async function validate(fields: object): Promise<{ error: string | null; models: string[] | undefined }> {
  const key = tenant.keys.developer
  const path = `/v1/environments/${tenant.development.id}/provider-credentials`
  const body = { name: 'n', base_url: upstream.baseUrl, ...fields }
  const { id } = (await plane.call<CredentialRecord>('POST', path, { key, body })).json
  const { json: record } = await plane.call<CredentialRecord>(
    'POST',
    `/v1/provider-credentials/${id}/validate`,
    { key },
  )
  const row = await plane.database.db
    .selectFrom('provider_credentials')
    .select('discovered_models')
    .where('id', '=', id)
    .executeTakeFirst()
  return { error: record.validation_error, models: row?.discovered_models }
}

const SIGNED = {
  provider: 'bedrock',
  api_key: 'secret-of-aws',
  options: { region: 'eu-west-1', access_key_id: 'AKIDEXAMPLE' },
}

test('Bedrock: sends a signed GET and stores the models that can be called by their own name', async () => {
  upstream.script(
    json(200, { modelSummaries: [{ modelId: 'anthropic.claude-x' }, { modelId: 'amazon.nova-x' }] }),
  )
  expect(await validate(SIGNED)).toEqual({ error: null, models: ['anthropic.claude-x', 'amazon.nova-x'] })
  const seen = upstream.requests.at(-1)
  expect(seen?.path).toBe('/v1/foundation-models?byInferenceType=ON_DEMAND')
  expect(seen?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date, Signature=/,
  )
})

test('Bedrock: without an access key id the key is a bearer token', async () => {
  upstream.script(json(200, { modelSummaries: [] }))
  expect((await validate({ ...SIGNED, options: { region: 'eu-west-1' } })).error).toBeNull()
  expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer secret-of-aws')
})

test('Bedrock: a key that may not list models is valid; a key that is unknown is not', async () => {
  const denied = 'User: arn:aws:iam::1:user/a is not authorized to perform: bedrock:ListFoundationModels'
  upstream.script(json(403, { message: denied }, { 'x-amzn-errortype': 'AccessDeniedException' }))
  expect((await validate(SIGNED)).error).toBeNull()
  const unknown = 'The security token included in the request is invalid.'
  upstream.script(json(403, { message: unknown }, { 'x-amzn-errortype': 'UnrecognizedClientException' }))
  expect((await validate(SIGNED)).error).toMatch(/refused this credential/)
})

test('Bedrock: rejects a region that would change the host when the credential is created', async () => {
  const path = `/v1/environments/${tenant.development.id}/provider-credentials`
  const body = { name: 'n', ...SIGNED, options: { region: 'evil.example/' } }
  const { status, json: answer } = await plane.call<any>('POST', path, { key: tenant.keys.developer, body })
  expect([status, answer.error.param]).toEqual([400, 'options.region'])
})

test('Cohere: stores the models that chat or embed', async () => {
  const models = [
    { name: 'command-x', endpoints: ['chat', 'generate'] },
    { name: 'embed-x', endpoints: ['embed'] },
    { name: 'rerank-x', endpoints: ['rerank'] },
  ]
  upstream.script(json(200, { models, next_page_token: '' }))
  expect(await validate({ provider: 'cohere', api_key: 'co-key' })).toEqual({
    error: null,
    models: ['command-x', 'embed-x'],
  })
  expect(upstream.requests.at(-1)?.path).toBe('/v1/models?page_size=1000')
})

test('Ollama: needs no key and lists models at /v1', async () => {
  upstream.script(json(200, { object: 'list', data: [{ id: 'qwen3:8b' }] }))
  expect(await validate({ provider: 'ollama', api_key: null })).toEqual({ error: null, models: ['qwen3:8b'] })
  expect(upstream.requests.at(-1)).toMatchObject({ path: '/v1/models' })
  expect(upstream.requests.at(-1)?.headers.authorization).toBeUndefined()
})
