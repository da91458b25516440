import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

/** Documents in the order in which they answer a query. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['cohere', 'voyage', 'custom', 'openai']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  await app.addCredential('bedrock', {
    api_key: 'bedrock-key',
    base_url: upstream.origin,
    options: { region: 'us-west-2' },
  })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const COHERE = 'cohere/rerank-v3.5'
const asked = { query: 'capital of France', documents: ['London', 'Paris', 'Rome'] }
const rerank = (fields: object, path = '/v1/rerank', options = {}): Promise<Response> =>
  app.call(path, { model: COHERE, ...asked, ...fields }, options)
const sent = () => upstream.requests.at(-1)
const results = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
]
const ofCohere = json(200, { id: 'x', results, meta: { billed_units: { search_units: 1 } } })

describe('POST /v1/rerank', () => {
  test('orders documents by Cohere, billed by the search, and leaves a record', async () => {
    upstream.script(ofCohere)
    const response = await rerank({ top_n: 2, return_documents: true, max_tokens_per_doc: 100 })
    expect(await response.json()).toEqual({
      id: response.headers.get('x-request-id'),
      object: 'rerank',
      model: COHERE,
      provider: 'cohere',
      results: [
        { index: 1, relevance_score: 0.9, document: { text: 'Paris' } },
        { index: 0, relevance_score: 0.1, document: { text: 'London' } },
      ],
      usage: { input_tokens: expect.any(Number), total_tokens: expect.any(Number), search_units: 1 },
      cost_usd: 0.002,
    })
    expect(sent()).toMatchObject({ path: '/v1/rerank' })
    expect(sent()?.body).toEqual({ model: 'rerank-v3.5', ...asked, top_n: 2, max_tokens_per_doc: 100 })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'rerank', status: 200, cost_usd: 0.002, usage_estimated: false })
  })

  test('orders documents by Voyage, billed by the token', async () => {
    upstream.script(json(200, { object: 'list', data: results, usage: { total_tokens: 57 } }))
    const response = await rerank({ model: 'voyage/rerank-2.5', top_n: 2 })
    expect(await response.json()).toMatchObject({
      results,
      usage: { input_tokens: 57, search_units: null },
      // 57 tokens at $0.05 per million.
      cost_usd: 0.00000285,
    })
    expect(sent()?.body).toEqual({ model: 'rerank-2.5', ...asked, top_k: 2 })
  })

  test('orders documents by Bedrock, which reports no use', async () => {
    upstream.script(
      json(200, {
        results: results.map(({ index, relevance_score: relevanceScore }) => ({ index, relevanceScore })),
      }),
    )
    const response = await rerank({ model: 'bedrock/amazon.rerank-v1:0', top_n: 2 })
    expect(await response.json()).toMatchObject({ results, usage: { search_units: 1 }, cost_usd: 0.001 })
    expect(sent()).toMatchObject({
      path: '/rerank',
      body: {
        queries: [{ type: 'TEXT', textQuery: { text: asked.query } }],
        rerankingConfiguration: {
          bedrockRerankingConfiguration: {
            modelConfiguration: {
              modelArn: 'arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0',
            },
            numberOfResults: 2,
          },
        },
      },
    })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ usage_estimated: true, cost_usd: 0.001 })
  })

  test('orders documents by any server of the usual format, unpriced', async () => {
    upstream.script(json(200, { results: [...results].reverse(), usage: { total_tokens: 57 } }))
    const response = await rerank({ model: 'custom/bge-reranker', top_n: 1 })
    expect(await response.json()).toMatchObject({
      results: [{ index: 1, relevance_score: 0.9 }],
      usage: { input_tokens: 57 },
      cost_usd: null,
    })
    expect(sent()?.body).toEqual({ model: 'bge-reranker', ...asked, return_documents: false, top_n: 1 })
  })

  test('answers from the sandbox, the same way each time', async () => {
    const documents = ['a town in England', 'the capital of France', 'a capital']
    const answers = []
    for (let at = 0; at < 2; at++) {
      const response = await rerank({ model: 'sandbox/rerank', documents })
      answers.push(((await response.json()) as { results: object }).results)
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject([{ index: 1, relevance_score: 1 }, { index: 2 }, { index: 0 }])
  })

  test.each([
    ['no query', { query: '' }, 'query'],
    ['no documents', { documents: [] }, 'documents'],
    ['too many documents', { documents: Array(10_001).fill('a') }, 'documents'],
    ['a document that is none', { documents: ['a', 5] }, 'documents[1]'],
    ['a document without text', { documents: [{ title: 'a' }] }, 'documents[0].text'],
    ['no whole number of results', { top_n: 0 }, 'top_n'],
    ['an unknown field', { rank_fields: ['a'] }, 'rank_fields'],
    [
      'a cut that the target cannot make',
      { model: 'voyage/rerank-2.5', max_tokens_per_doc: 5 },
      'max_tokens_per_doc',
    ],
  ])('refuses %s by name', async (_title, fields, param) => {
    const before = upstream.requests.length
    const response = await rerank(fields)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param } })
    expect(upstream.requests.length).toBe(before)
  })

  test.each([['cohere/embed-v4.0'], ['openai/gpt-4o']])('refuses %s, which is no reranker', async model => {
    const response = await rerank({ model })
    expect(await response.json()).toMatchObject({
      error: { code: 'model_missing_capability', param: 'model' },
    })
  })

  test.each([
    ['an index that is none', [{ index: 3, relevance_score: 1 }]],
    ['an index twice', [results[0], results[0]]],
    ['a score that is none', [{ index: 0, relevance_score: 'high' }]],
    ['nothing', []],
  ])('answers 502 where the provider sends %s', async (_title, list) => {
    upstream.script(json(200, { results: list, meta: { billed_units: { search_units: 1 } } }))
    expect((await rerank({})).status).toBe(503)
  })

  test('does not believe a provider that reports far more than there is', async () => {
    upstream.script(json(200, { results, meta: { billed_units: { search_units: 1_000_000 } } }))
    expect(await (await rerank({})).json()).toMatchObject({ cost_usd: 0.002 })
  })

  test('replays the first answer of an idempotency key', async () => {
    upstream.script(ofCohere)
    const headers = { 'idempotency-key': 'rerank-1' }
    const first = await (await rerank({}, undefined, { headers })).json()
    const before = upstream.requests.length
    const again = await rerank({}, undefined, { headers })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.json()).toEqual(first)
    expect(upstream.requests.length).toBe(before)
  })
})

describe('limits', () => {
  test('refuse a request that could cost more than the key allows, and an unknown price', async () => {
    const restrictions = { max_request_cost_usd: 0.003 }
    const { key } = await app.createKey({ restrictions })
    upstream.script(ofCohere)
    expect((await rerank({}, undefined, { key })).status).toBe(200)
    const many = await rerank({ documents: Array(150).fill('a') }, undefined, { key })
    expect(await many.json()).toMatchObject({ error: { code: 'budget_exceeded' } })
    const unpriced = await rerank({ model: 'custom/bge-reranker' }, undefined, { key })
    expect(await unpriced.json()).toMatchObject({ error: { code: 'model_unpriced' } })
  })

  test('let a client token in by the scope of embeddings, and no unknown field', async () => {
    const key = await makePlaygroundToken(app)
    upstream.script(ofCohere)
    expect((await rerank({}, '/openai/v1/rerank', { key })).status).toBe(200)
    const refused = await rerank({ rank_fields: ['a'] }, '/openai/v1/rerank', { key })
    expect(await refused.json()).toMatchObject({ error: { param: 'rank_fields' } })
    const chatOnly = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    expect((await rerank({}, undefined, { key: chatOnly.key })).status).toBe(403)
  })
})

describe('other shapes', () => {
  test("OpenAI's prefix answers as Jina and Together do, with what Cohere bills", async () => {
    upstream.script(ofCohere)
    const response = await rerank({ top_k: 2, truncation: true }, '/openai/v1/rerank')
    expect(await response.json()).toEqual({
      id: response.headers.get('x-request-id'),
      object: 'rerank',
      model: COHERE,
      results,
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
      meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
    })
  })

  test.each([
    ['/cohere/v2/rerank', '2'],
    ['/cohere/v1/rerank', '1'],
  ])('%s answers as Cohere does', async (path, version) => {
    upstream.script(ofCohere)
    const response = await rerank({ documents: [{ text: 'London' }, 'Paris'] }, path)
    expect(await response.json()).toEqual({
      id: response.headers.get('x-request-id'),
      results,
      meta: { api_version: { version }, billed_units: { search_units: 1 } },
    })
    expect(sent()?.body.documents).toEqual(['London', 'Paris'])
  })
})
