import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['anthropic', 'cohere']) {
    upstream.script(json(200, { data: [], models: [] }))
    await app.addCredential(provider, { api_key: 'k-of-the-tenant', base_url: upstream.baseUrl })
  }
  const alias = async (name: string, ...models: string[]): Promise<void> => {
    const body = { alias: name, strategy: 'priority', targets: models.map(model => ({ model })) }
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, body)
    expect(made.status).toBe(201)
  }
  await alias('both', CLAUDE, COMMAND)
  await alias('mixed', CLAUDE, 'sandbox/embed')
})

afterAll(async () => {
  await app.close()
  await upstream.close()
})

const CLAUDE = 'anthropic/claude-sonnet-4-6'
const COMMAND = 'cohere/command-a-03-2025'

async function ask(model: string, fields: object): Promise<unknown> {
  const body = { model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields }
  const { error } = (await (await app.call('/openai/v1/chat/completions', body)).json()) as {
    error: { code: string; param: string; message: string }
  }
  return [error.code, error.param, error.message.includes('unsupported_params = drop')]
}

test('a parameter that the target does not support is refused by name, with the setting that leaves it out', async () => {
  expect(await ask(CLAUDE, { logit_bias: { 50256: -100 } })).toEqual(['invalid_request', 'logit_bias', true])
})

test('an alias whose targets all refuse the same parameter answers with that refusal', async () => {
  expect(await ask('both', { logit_bias: { 50256: -100 } })).toEqual(['invalid_request', 'logit_bias', true])
})

test('an alias whose targets refuse for different reasons answers with no_eligible_target', async () => {
  expect(await ask('mixed', { logit_bias: { 50256: -100 } })).toEqual(['no_eligible_target', 'model', true])
})
