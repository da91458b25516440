import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Names that neither the catalogue nor a provider's list nor the environment knows. */

const NEW = 'gpt-brand-new-1'
const messages = [{ role: 'user', content: 'Say hello.' }]

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  const credential = { api_key: 'k', base_url: upstream.baseUrl }
  for (const provider of ['openai', 'anthropic', 'gemini', 'cohere'])
    await app.addCredential(provider, credential)
  await app.addCredential('ollama', { base_url: upstream.baseUrl })
  await app.addCredential('bedrock', {
    api_key: 'k',
    base_url: upstream.origin,
    options: { region: 'eu-west-1' },
  })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})
beforeEach(() => upstream.script(json(404, { error: { message: 'no such model', code: 'model_not_found' } })))

/** The outcome of a call, and what reached the provider: undefined if nothing did. */
async function send(
  path: string,
  body: object,
  key?: string,
): Promise<{
  status: number
  code: string
  answer: any
  sent: { path: string; model: unknown } | undefined
}> {
  const before = upstream.requests.length
  const response = await app.call(path, body, key === undefined ? {} : { key })
  const answer: any = await response.json()
  const seen = upstream.requests[before]
  return {
    status: response.status,
    code: answer.error?.code ?? answer.code,
    answer,
    sent: seen && { path: seen.path, model: seen.body.model },
  }
}

test('provider/model goes to that provider, unpriced', async () => {
  upstream.script(completion('Hello.'))
  const { answer, sent } = await send('/v1/chat', { model: `openai/${NEW}`, messages })
  expect(sent).toEqual({ path: '/v1/chat/completions', model: NEW })
  expect(answer).toMatchObject({ model: `openai/${NEW}`, cost_usd: null })
})

test('tools and other capabilities are assumed', async () => {
  upstream.script(completion('{}'))
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const { status } = await send('/v1/chat', {
    model: `openai/${NEW}`,
    messages,
    tools,
    response_format: { type: 'json_object' },
  })
  expect(status).toBe(200)
})

test("the provider's own refusal is 404 model_not_found", async () => {
  const { status, code } = await send('/v1/chat', { model: `openai/${NEW}`, messages })
  expect([status, code]).toEqual([404, 'model_not_found'])
})

test('a provider without a credential is provider_credential_missing', async () => {
  const { code, sent } = await send('/v1/chat', { model: `groq/${NEW}`, messages })
  expect([code, sent]).toEqual(['provider_credential_missing', undefined])
})

describe('a bare name', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hello.' }] }]
  const converse = { messages: [{ role: 'user', content: [{ text: 'Hello.' }] }] }
  test.each<[string, string, object, { path: string; model: unknown }]>([
    [
      '/openai/v1/chat/completions',
      'OpenAI',
      { model: NEW, messages },
      { path: '/v1/chat/completions', model: NEW },
    ],
    [
      '/openai/v1/responses',
      'OpenAI',
      { model: NEW, input: 'Hello.' },
      { path: '/v1/responses', model: NEW },
    ],
    [
      '/openai/v1/embeddings',
      'OpenAI',
      { model: NEW, input: 'Hello.' },
      { path: '/v1/embeddings', model: NEW },
    ],
    [
      '/openai/v1/images/generations',
      'OpenAI',
      { model: NEW, prompt: 'A cat.' },
      { path: '/v1/images/generations', model: NEW },
    ],
    [
      '/anthropic/v1/messages',
      'Anthropic',
      { model: NEW, max_tokens: 9, messages },
      { path: '/v1/messages', model: NEW },
    ],
    [
      `/gemini/v1beta/models/${NEW}:generateContent`,
      'Gemini',
      { contents },
      { path: `/v1/models/${NEW}:generateContent`, model: undefined },
    ],
    ['/cohere/v2/chat', 'Cohere', { model: NEW, messages }, { path: '/v1/chat', model: NEW }],
    [
      '/ollama/api/chat',
      'Ollama',
      { model: NEW, messages, stream: false },
      { path: '/api/chat', model: NEW },
    ],
    [
      `/bedrock/model/${NEW}/converse`,
      'Bedrock',
      converse,
      { path: `/model/${NEW}/converse`, model: undefined },
    ],
  ])('sent to %s goes to %s', async (path, _, body, sent) => {
    expect((await send(path, body)).sent).toEqual(sent)
  })

  test('is model_not_found natively, and where the provider of the format has no credential', async () => {
    expect(await send('/v1/chat', { model: NEW, messages })).toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
    const { key } = await app.createKey({}, app.productionId)
    const { status, code, sent } = await send('/openai/v1/chat/completions', { model: NEW, messages }, key)
    expect([status, code, sent]).toEqual([404, 'model_not_found', undefined])
  })
})

describe('a list of allowed models', () => {
  const asked = [
    ['/v1/chat', `openai/${NEW}`],
    ['/openai/v1/chat/completions', NEW],
  ] as const

  test.each([
    [[`openai/${NEW}`], true],
    [['openai/*'], true],
    [[NEW], true],
    [['openai/gpt-4o-mini'], false],
    [['anthropic/*'], false],
    [[`anthropic/${NEW}`], false],
  ])('%j of a key allows the model: %s', async (allowed_models, isAllowed) => {
    const { key } = await app.createKey({ restrictions: { allowed_models } })
    for (const [path, model] of asked) {
      const { code, sent } = await send(path, { model, messages }, key)
      expect([code, sent !== undefined]).toEqual(
        isAllowed ? ['model_not_found', true] : ['model_not_allowed', false],
      )
    }
  })

  test("holds for the client tokens of its minting key, and a plan's for its end users", async () => {
    const { key } = await app.createKey({ restrictions: { allowed_models: ['openai/gpt-4o-mini'] } })
    const plans = `/v1/environments/${app.developmentId}/plans`
    const plan = await app.manage('POST', plans, { name: 'small', allowed_models: ['openai/gpt-4o-mini'] })
    expect(plan.status).toBe(201)
    const mint = async (by: string, fields: object): Promise<string> => {
      const body = { end_user: { id: 'u1', ...fields }, scopes: ['ai.chat'] }
      const minted: any = await (await app.call('/v1/client-tokens', body, { key: by })).json()
      return minted.token
    }
    for (const token of [await mint(key, {}), await mint(app.secretKey, { plan: 'small' })]) {
      for (const [path, model] of asked) {
        const { code, sent } = await send(path, { model, messages }, token)
        expect([code, sent]).toEqual(['model_not_allowed', undefined])
      }
    }
  })

  test("holds if it is the environment's too", async () => {
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('PATCH', environment, { allowed_models: ['openai/gpt-4o-mini'] })
    for (const [path, model] of asked) {
      const { code, sent } = await send(path, { model, messages })
      expect([code, sent]).toEqual(['model_not_allowed', undefined])
    }
    await app.manage('PATCH', environment, { allowed_models: null })
  })
})

test.each(['openai/../files', 'gemini/..', 'openai/a b', 'bedrock/arn:aws:bedrock:eu-west-1:1:prompt/P'])(
  'the name %s reaches no provider: 404 model_not_found',
  async model => {
    const { status, code, sent } = await send('/v1/chat', { model, messages })
    expect([status, code, sent]).toEqual([404, 'model_not_found', undefined])
  },
)

test('a limit of money refuses it as model_unpriced and names custom-models', async () => {
  const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 1 } })
  const calls: [string, object][] = [
    ['/v1/chat', { model: `openai/${NEW}`, messages }],
    ['/v1/embeddings', { model: `openai/${NEW}`, input: 'x' }],
    ['/openai/v1/images/generations', { model: NEW, prompt: 'A cat.' }],
  ]
  for (const [path, body] of calls) {
    const { status, answer, sent } = await send(path, body, key)
    expect([status, answer.error, sent]).toMatchObject([
      400,
      { code: 'model_unpriced', param: 'model', message: expect.stringContaining('custom-models') },
      undefined,
    ])
  }
  const budget = await app.manage('POST', `/v1/orgs/${app.orgId}/budgets`, { limit_usd: 10, window: 'month' })
  const { answer } = await send('/v1/chat', { model: `openai/${NEW}`, messages })
  expect(answer.error).toMatchObject({
    code: 'model_unpriced',
    message: expect.stringContaining('custom-models'),
  })
  await app.manage('DELETE', `/v1/budgets/${budget.body.id}`)
})

test.each(['nitro', 'exacto'])(
  'a limit of money refuses :%s, which asks OpenRouter for other hosts than the price of the model is of',
  async mark => {
    await app.addCredential('openrouter', { api_key: 'k', base_url: upstream.baseUrl })
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 1 } })
    upstream.script(completion('Hello.'))
    const ask = (model: string, by?: string) =>
      send('/v1/chat', { model: `openrouter/${model}`, messages }, by)
    expect((await ask('openai/gpt-4o-mini', key)).status).toBe(200)
    const marked = `openai/gpt-4o-mini:${mark}`
    expect(await ask(marked, key)).toMatchObject({ status: 400, code: 'model_unpriced', sent: undefined })
    const scope = { scope: 'environment', scope_ref: app.developmentId }
    const budget = { limit_usd: 10, window: 'month', ...scope }
    const { body } = await app.manage('POST', `/v1/projects/${app.projectId}/budgets`, budget)
    expect(await ask(marked)).toMatchObject({ status: 400, code: 'model_unpriced', sent: undefined })
    await app.manage('DELETE', `/v1/budgets/${body.id}`)
    expect(await ask(marked)).toMatchObject({ status: 200, sent: { model: marked } })
  },
)

test('the target of an alias may be one, and a dry run tells so', async () => {
  const path = `/v1/environments/${app.developmentId}/model-aliases`
  const targets = [{ model: `openai/${NEW}` }]
  const made = await app.manage('POST', path, { alias: 'next', strategy: 'priority', targets })
  expect([made.status, made.body.warnings]).toEqual([201, []])
  expect((await send('/v1/chat', { model: 'next', messages })).sent?.model).toBe(NEW)
  const { body } = await app.manage('POST', `/v1/model-aliases/${made.body.id}/dry-run`, {})
  expect(body.targets[0]).toMatchObject({
    usable: true,
    message: expect.stringContaining('its provider decides'),
  })
})
