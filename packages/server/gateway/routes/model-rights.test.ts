import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { getJson } from '../../testing/harness/get-json.ts'

/** Which models are listed to credentials that may call some endpoints only. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream({ scriptsLists: true })
  upstream.script(json(200, { object: 'list', data: [{ id: 'by-name' }] }))
  const id = await app.addCredential('custom-named', { api_key: 'k', base_url: upstream.baseUrl })
  await app.manage('POST', `/v1/provider-credentials/${id}/validate`)
  const environment = `/v1/environments/${app.developmentId}`
  const create = async (kind: string, body: object): Promise<void> => {
    expect((await app.manage('POST', `${environment}/${kind}`, body)).status).toBe(201)
  }
  for (const [model, ...capabilities] of [
    ['speaks', 'speech'],
    ['embeds', 'embeddings'],
    ['talks-and-draws', 'chat', 'images'],
    ['serves-nothing', 'tools'],
  ])
    await create('custom-models', { model: `custom-named/${model}`, capabilities })
  for (const [alias, ...models] of [
    ['any-work', 'sandbox/echo', 'sandbox/embed'],
    ['talk', 'sandbox/echo', 'sandbox/json'],
    ['vectors', 'sandbox/embed'],
  ])
    await create('model-aliases', {
      alias,
      strategy: 'priority',
      targets: models.map(model => ({ model })),
    })
  await create('plans', { name: 'pictures', scopes: ['ai.images'] })
  // Every call that is allowed is refused by this quota, so that none of them reaches a model.
  await create('quotas', { scope: 'environment', metric: 'requests', window: 'day', limit: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const get = (route: string, key: string) => getJson(app.gatewayUrl + route, key)
const list = async (key: string): Promise<any[]> => (await get('/v1/models', key)).body.data
const listIds = async (key: string): Promise<string[]> => (await list(key)).map(({ id }) => id)
const keyOf = async (body: Record<string, unknown>): Promise<string> => (await app.createKey(body)).key
async function mint(scopes: string[], plan?: string): Promise<string> {
  const end_user = { id: `of-${plan ?? scopes.join()}`, ...(plan === undefined ? {} : { plan }) }
  const minted = await app.call('/v1/client-tokens', { end_user, scopes })
  return ((await minted.json()) as { token: string }).token
}

const CALLS: readonly [string, object][] = [
  ['/v1/chat', { messages: [{ role: 'user', content: 'hi' }] }],
  ['/v1/embeddings', { input: 'hi' }],
  ['/openai/v1/rerank', { query: 'hi', documents: ['a'] }],
  ['/openai/v1/images/generations', { prompt: 'hi' }],
  ['/openai/v1/audio/speech', { input: 'hi', voice: 'alloy' }],
]

/** Returns true if the limits alone refuse a call of the model at one endpoint. */
async function isCallable(model: string, key: string): Promise<boolean> {
  const codes = CALLS.map(async ([route, body]) => {
    const response = await app.call(route, { model, ...body }, { key })
    return ((await response.json()) as { error: { code: string } }).error.code
  })
  return (await Promise.all(codes)).includes('quota_exceeded')
}

const CREDENTIALS: readonly [string, () => Promise<string>][] = [
  ['a key without restrictions', async () => app.secretKey],
  ['a key for embeddings', () => keyOf({ restrictions: { allowed_endpoints: ['embeddings'] } })],
  ['a key for audio', () => keyOf({ restrictions: { allowed_endpoints: ['audio'] } })],
  ['a key for feedback', () => keyOf({ restrictions: { allowed_endpoints: ['feedback'] } })],
  ['a key with the scope ai.embed', () => keyOf({ scopes: ['ai.embed'] })],
  ['a client token with the scope ai.chat', () => mint(['ai.chat'])],
  ['a client token with the scope ai.embed', () => mint(['ai.embed'])],
  ['a client token with the scope feedback', () => mint(['feedback'])],
  ['a client token of a plan with the scope ai.images', () => mint(['ai.chat', 'ai.images'], 'pictures')],
]

test.each(CREDENTIALS)('%s is listed exactly the models that it may call', async (_, open) => {
  const key = await open()
  const names = [
    ...(await listIds(app.secretKey)),
    'custom-named/serves-nothing',
    'sandbox/echo',
    'sandbox/embed',
  ]
  const listed = await listIds(key)
  const callable: string[] = []
  for (const name of new Set(names)) {
    const isListed = listed.includes(name)
    const single = await get(`/v1/models/${name}`, key)
    const answer = isListed ? [200, undefined] : [404, 'model_not_found']
    expect([name, single.status, single.body.error?.code]).toEqual([name, ...answer])
    if (await isCallable(name, key)) callable.push(name)
  }
  expect(callable.sort()).toEqual(listed)
})

describe('a credential for embeddings only', () => {
  let key: string
  beforeAll(async () => {
    key = await mint(['ai.embed'])
  })

  test('is listed embedding models, rerank models, models known by name only, and aliases with such a target', async () => {
    expect(await listIds(key)).toEqual([
      'any-work',
      'custom-named/by-name',
      'custom-named/embeds',
      'sandbox/embed',
      'sandbox/rerank',
      'vectors',
    ])
  })

  test('sees the targets of an alias that it may call', async () => {
    const { body } = await get('/v1/models/any-work', key)
    expect(body).toMatchObject({ targets: ['sandbox/embed'], capabilities: ['embeddings'] })
  })

  test.each(['/openai/v1/models', '/anthropic/v1/models', '/gemini/v1beta/models', '/ollama/api/tags'])(
    'gets the same models from %s',
    async route => {
      const text = JSON.stringify((await get(route, key)).body)
      expect(text).toContain('sandbox/embed')
      expect(text).not.toMatch(/sandbox\/echo|sandbox\/image|talk/)
    },
  )

  test.each(['/openai/v1/models/', '/anthropic/v1/models/', '/gemini/v1beta/models/'])(
    'gets 404 from %s for a chat model',
    async route => {
      expect((await get(`${route}sandbox/embed`, key)).status).toBe(200)
      expect((await get(`${route}sandbox/echo`, key)).status).toBe(404)
    },
  )

  test('gets 404 from /ollama/api/show for a chat model', async () => {
    const show = async (model: string): Promise<number> =>
      (await app.call('/ollama/api/show', { model }, { key })).status
    expect([await show('sandbox/embed'), await show('sandbox/echo')]).toEqual([200, 404])
  })

  test('is listed what a change of its rights allows', async () => {
    const made = await app.createKey({ restrictions: { allowed_endpoints: ['embeddings'] } })
    expect(await listIds(made.key)).toEqual(await listIds(key))
    await app.manage('PATCH', `/v1/keys/${made.id}`, { restrictions: { allowed_endpoints: ['chat'] } })
    const changed = await listIds(made.key)
    expect(changed).toContain('sandbox/echo')
    expect(changed).not.toContain('sandbox/embed')
  })
})
