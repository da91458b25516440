import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let credentialId: string
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream({ scriptsLists: true })
  credentialId = await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

const chat = async (model: string, fields: object = {}): Promise<any> => {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  return await (await app.call('/v1/chat', { model, messages, ...fields })).json()
}
const listed = async (id: string): Promise<any> => {
  const headers = { authorization: `Bearer ${app.secretKey}` }
  const response = await fetch(`${app.gatewayUrl}/v1/models`, { headers })
  return ((await response.json()) as any).data.find((model: any) => model.id === id)
}
const customModels = () => `/v1/environments/${app.developmentId}/custom-models`

test("serves a model of the provider's own list at an unknown price", async () => {
  expect((await chat('gpt-77')).error.code).toBe('model_not_found')
  expect(await listed('openai/gpt-77')).toBeUndefined()
  upstream.script(json(200, { data: [{ id: 'gpt-77' }] }))
  await app.manage('POST', `/v1/provider-credentials/${credentialId}/validate`)
  upstream.script(completion('Hello.'))
  expect(await chat('openai/gpt-77')).toMatchObject({ model: 'openai/gpt-77', cost_usd: null })
  expect(await chat('gpt-77')).toMatchObject({ model: 'openai/gpt-77' })
  expect(await listed('openai/gpt-77')).toMatchObject({ kind: 'model', pricing: null })
})

test('applies a custom price at once, and the listed one after its removal', async () => {
  upstream.script(
    completion('Hello.', { usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } }),
  )
  const model = 'openai/gpt-4o-mini'
  expect((await chat(model)).cost_usd).toBe(0.000_21)
  const pricing = { input_usd_per_mtok: 10, output_usd_per_mtok: 20.000_001 }
  const made = await app.manage('POST', customModels(), { model, capabilities: ['chat'], pricing })
  // 10,000,000 and 2,000,000.1 nano-dollars, rounded up once.
  expect((await chat(model)).cost_usd).toBe(0.012_000_001)
  expect((await listed(model)).pricing).toMatchObject(pricing)
  await app.manage('PATCH', `/v1/custom-models/${made.body.id}`, { pricing: null })
  expect((await chat(model)).cost_usd).toBeNull()
  await app.manage('DELETE', `/v1/custom-models/${made.body.id}`)
  expect((await chat(model)).cost_usd).toBe(0.000_21)
})

test("applies an environment's capabilities of a model instead of the catalogue's", async () => {
  const tools = [{ type: 'function', function: { name: 'f' } }]
  upstream.script(completion('Hello.'))
  const model = 'openai/gpt-4o-mini'
  const made = await app.manage('POST', customModels(), { model, capabilities: ['chat'] })
  expect((await chat(model, { tools })).error.code).toBe('model_missing_capability')
  await app.manage('PATCH', `/v1/custom-models/${made.body.id}`, { capabilities: ['chat', 'tools'] })
  expect((await chat(model, { tools })).error).toBeUndefined()
  await app.manage('DELETE', `/v1/custom-models/${made.body.id}`)
})

test('resolves a custom model by its full name and its bare name', async () => {
  upstream.script(completion('Hello.'))
  await app.manage('POST', customModels(), { model: 'openai/ft:mine', capabilities: ['chat'] })
  expect((await chat('ft:mine')).model).toBe('openai/ft:mine')
  await app.manage('POST', customModels(), { model: 'groq/mine', capabilities: ['chat'] })
  expect((await chat('groq/mine')).error.code).toBe('provider_credential_missing')
  expect(await listed('groq/mine')).toBeUndefined()
})
