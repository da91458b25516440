import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { getJson } from '../../testing/harness/get-json.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp()
  await app.addCredential('openai', { api_key: 'k', base_url: 'http://127.0.0.1:1/v1' })
})

afterAll(async () => {
  await app.close()
})

const get = (route: string, key = app.secretKey) => getJson(app.gatewayUrl + route, key)

describe('GET /v1/models', () => {
  test('lists the models of providers with a credential by id, all at once', async () => {
    const { status, body } = await get('/v1/models')
    expect(status).toBe(200)
    const ids = body.data.map((model: { id: string }) => model.id)
    expect(new Set(ids.map((id: string) => id.split('/')[0]))).toEqual(new Set(['openai', 'sandbox']))
    expect([...ids].sort()).toEqual(ids)
    expect(body).toMatchObject({ has_more: false, next_cursor: null })
    expect(body.data.find((model: { id: string }) => model.id === 'openai/gpt-4o-mini')).toEqual({
      id: 'openai/gpt-4o-mini',
      object: 'model',
      kind: 'model',
      provider: 'openai',
      display_name: expect.any(String),
      context_window: 128000,
      max_output_tokens: 16384,
      capabilities: expect.arrayContaining(['chat', 'tools', 'response_format', 'vision']),
      pricing: { input_usd_per_mtok: 0.15, output_usd_per_mtok: 0.6, cached_input_usd_per_mtok: 0.075 },
      image_pricing: null,
      audio_pricing: null,
      rerank_pricing: null,
      targets: null,
    })
  })

  test('returns pages if limit is given, which together are the whole list', async () => {
    const all = (await get('/v1/models')).body.data.map((model: { id: string }) => model.id)
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await get(`/v1/models?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`)
      paged.push(...body.data.map((model: { id: string }) => model.id))
      expect(body.has_more).toBe(body.next_cursor !== null)
      cursor = body.next_cursor
    }
    expect(paged).toEqual(all)
  })

  test('returns cursors that it accepts for names that are too long for one', async () => {
    const models = [1, 2, 3].map(index => `openai/${'é'.repeat(248)}${index}`)
    for (const model of models) {
      const record = { model, capabilities: ['chat'] }
      const made = await app.manage('POST', `/v1/environments/${app.developmentId}/custom-models`, record)
      expect(made.status).toBe(201)
    }
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await get(`/v1/models?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(status).toBe(200)
      paged.push(body.data[0].id)
      cursor = body.next_cursor
    }
    expect(paged).toEqual((await get('/v1/models')).body.data.map((model: { id: string }) => model.id))
    expect(paged).toEqual(expect.arrayContaining(models))
  })

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'cursor=',
    `cursor=${'x'.repeat(513)}`,
    'page=2',
    'limit=5&limit=6',
  ])('rejects ?%s with 400 request_validation_failed', async query => {
    const { status, body } = await get(`/v1/models?${query}`)
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      'request_validation_failed',
      query.split('=')[0],
    ])
  })

  test('shows the capabilities of the routes of a model that is known by name only', async () => {
    const upstream = await openScriptedUpstream({ scriptsLists: true })
    upstream.script(res => {
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ object: 'list', data: [{ id: 'by-name' }] }))
    })
    const id = await app.addCredential('custom-named', { api_key: 'k', base_url: upstream.baseUrl })
    await app.manage('POST', `/v1/provider-credentials/${id}/validate`)
    const { body } = await get('/v1/models/custom-named/by-name')
    expect(body.capabilities).toEqual([
      'chat',
      'tools',
      'response_format',
      'vision',
      'reasoning',
      'embeddings',
      'images',
    ])
    await app.manage('DELETE', `/v1/provider-credentials/${id}`)
    await upstream.close()
  })

  test('shows what images cost beside the prices of tokens', async () => {
    expect((await get('/v1/models/sandbox/image')).body).toMatchObject({
      pricing: null,
      image_pricing: {
        usd_per_image: 0.01,
        text_input_usd_per_mtok: null,
        image_output_usd_per_mtok: null,
      },
    })
    expect((await get('/v1/models/sandbox/echo')).body.image_pricing).toBeNull()
  })

  test.each([
    ['openai/whisper-1', 'audio_pricing', { usd_per_hour: 0.36, text_input_usd_per_mtok: null }],
    ['openai/tts-1', 'audio_pricing', { usd_per_million_characters: 15, min_seconds: null }],
    ['sandbox/rerank', 'rerank_pricing', { input_usd_per_mtok: expect.any(Number) }],
  ])('shows the prices of %s', async (id, field, prices) => {
    const { body } = await get(`/v1/models/${id}`)
    expect(body).toMatchObject({ [field]: prices, image_pricing: null })
  })

  test('lists only the models that the key may call', async () => {
    const { key } = await app.createKey({
      restrictions: { allowed_models: ['sandbox/*', 'openai/gpt-4o'] },
    })
    const { body } = await get('/v1/models', key)
    const ids = body.data.map((model: { id: string }) => model.id)
    expect(ids.filter((id: string) => id.startsWith('openai/'))).toEqual(['openai/gpt-4o'])
    expect(ids).toContain('sandbox/echo')
  })

  test('needs a key, but no scope', async () => {
    const { key } = await app.createKey({ scopes: ['feedback'] })
    expect((await get('/v1/models', key)).status).toBe(200)
    const { key: publishable } = await app.createKey({ kind: 'publishable' })
    expect((await get('/v1/models', publishable)).body.error.code).toBe('endpoint_not_allowed')
    expect((await fetch(`${app.gatewayUrl}/v1/models`)).status).toBe(401)
  })
})

describe('GET /v1/models/{model}', () => {
  test("rejects a model outside the key's list with 403 model_not_allowed, also one that does not exist", async () => {
    const { key } = await app.createKey({ restrictions: { allowed_models: ['sandbox/*'] } })
    for (const model of ['openai/gpt-4o-mini', 'openai/none-of-this-name']) {
      const { status, body } = await get(`/v1/models/${model}`, key)
      expect([status, body.error.code, body.error.param]).toEqual([403, 'model_not_allowed', 'model'])
    }
  })

  test.each(['/v1/models/openai/gpt-4o-mini', '/v1/models/openai%2Fgpt-4o-mini', '/v1/models/gpt-4o-mini'])(
    '%s returns the same model',
    async route => {
      expect((await get(route)).body.id).toBe('openai/gpt-4o-mini')
    },
  )

  test('returns 404 model_not_found for unknown models and providers without a credential', async () => {
    for (const name of ['openai/unheard-of', 'groq/llama-3.3-70b-versatile', 'x'.repeat(300)]) {
      const { status, body } = await get(`/v1/models/${name}`)
      expect([status, body.error.code]).toEqual([404, 'model_not_found'])
    }
  })
})

test("the list in OpenAI's format is never paged", async () => {
  const { body } = await get('/openai/v1/models?limit=1')
  expect(body.object).toBe('list')
  expect(body.data.length).toBeGreaterThan(1)
  expect(body.data[0]).toEqual({
    id: expect.any(String),
    object: 'model',
    created: 0,
    owned_by: expect.any(String),
  })
})

describe('browsers', () => {
  test('get a preflight answer on every client route', async () => {
    const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization,content-type')
  })
})

test('GET /healthz and /readyz need no credential', async () => {
  for (const url of [app.gatewayUrl, app.controlUrl]) {
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  }
})
