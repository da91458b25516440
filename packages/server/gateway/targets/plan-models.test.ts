import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** The `allowed_models` of an end user's plan. */

let app: TestApp
/** Of an end user whose plan allows `sandbox/echo` and the name of an alias. */
let token: string

beforeAll(async () => {
  app = await openTestApp()
  const environment = `/v1/environments/${app.developmentId}`
  const create = async (kind: string, body: object): Promise<void> => {
    expect((await app.manage('POST', `${environment}/${kind}`, body)).status).toBe(201)
  }
  await create('plans', { name: 'small', allowed_models: ['sandbox/echo', 'outside'] })
  const alias = (name: string, ...models: string[]): Promise<void> =>
    create('model-aliases', { alias: name, strategy: 'priority', targets: models.map(model => ({ model })) })
  await alias('outside', 'sandbox/tools', 'sandbox/json')
  await alias('partly', 'sandbox/tools', 'sandbox/echo')
  await alias('inside', 'sandbox/echo')
  const body = { end_user: { id: 'u1', plan: 'small' }, scopes: ['ai.chat', 'ai.embed', 'ai.images'] }
  const minted = (await (await app.call('/v1/client-tokens', body)).json()) as { token: string }
  token = minted.token
})

afterAll(async () => {
  await app.close()
})

const MESSAGES = [{ role: 'user', content: 'hi' }]
const TOOLS = [{ type: 'function', function: { name: 'f' } }]

async function ask(route: string, body: object): Promise<{ code: string | undefined; model: string | null }> {
  const response = await app.call(route, body, { key: token })
  const answer = (await response.json()) as { error?: { code: string } }
  return { code: answer.error?.code, model: response.headers.get('x-rideau-model') }
}

test.each([
  ['a model that does not exist', '/v1/chat', { model: 'sandbox/none', messages: MESSAGES }],
  ['a name that nothing knows', '/v1/chat', { model: 'unheard-of', messages: MESSAGES }],
  ['a provider without a credential', '/v1/chat', { model: 'groq/llama', messages: MESSAGES }],
  [
    'a model without the capability',
    '/v1/chat',
    { model: 'sandbox/embed', messages: MESSAGES, tools: TOOLS },
  ],
  ['a model without embeddings', '/v1/embeddings', { model: 'sandbox/json', input: 'hi' }],
  ['a model without images', '/openai/v1/images/generations', { model: 'sandbox/json', prompt: 'hi' }],
  ['a model without rerank', '/openai/v1/rerank', { model: 'sandbox/json', query: 'hi', documents: ['a'] }],
  ['an alias whose targets are all outside', '/v1/chat', { model: 'outside', messages: MESSAGES }],
])('refuses %s with 403 model_not_allowed', async (_title, route, body) => {
  expect((await ask(route, body)).code).toBe('model_not_allowed')
})

test('leaves an alias the targets that the plan allows, whatever the alias is called', async () => {
  for (const model of ['partly', 'inside']) {
    expect(await ask('/v1/chat', { model, messages: MESSAGES })).toEqual({
      code: undefined,
      model: 'sandbox/echo',
    })
  }
})

describe('model lists of a client token', () => {
  const list = async (route: string, key = token): Promise<unknown> =>
    (await fetch(app.gatewayUrl + route, { headers: { authorization: `Bearer ${key}` } })).json()

  test('name only what the plan allows, with the targets that it allows', async () => {
    const { data } = (await list('/v1/models')) as { data: { id: string; targets: string[] | null }[] }
    expect(data.map(({ id, targets }) => [id, targets])).toEqual([
      ['inside', ['sandbox/echo']],
      ['partly', ['sandbox/echo']],
      ['sandbox/echo', null],
    ])
    for (const name of ['sandbox/json', 'outside']) {
      expect(await list(`/v1/models/${name}`)).toMatchObject({ error: { code: 'model_not_allowed' } })
    }
  })

  test.each(['/openai/v1/models', '/anthropic/v1/models', '/gemini/v1beta/models', '/ollama/api/tags'])(
    'do so in the format of %s',
    async route => {
      const text = JSON.stringify(await list(route))
      expect(text).toContain('sandbox/echo')
      expect(text).not.toContain('sandbox/json')
      expect(text).not.toContain('outside')
    },
  )

  test('of a secret key are not changed by plans', async () => {
    const all = (await list('/v1/models', app.secretKey)) as { data: { id: string }[] }
    expect(all.data.map(({ id }) => id)).toContain('sandbox/json')
  })
})
