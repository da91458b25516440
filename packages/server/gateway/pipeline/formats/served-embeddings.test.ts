import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

/** Embeddings in the formats of Gemini, Ollama and Cohere, at providers of each format and of others. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'gemini', 'cohere', 'ollama']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const OPENAI = 'openai/text-embedding-3-small'
const GEMINI = 'gemini/gemini-embedding-001'
const two = json(200, {
  data: [
    { index: 0, embedding: [1, -0.5] },
    { index: 1, embedding: [2, -0.5] },
  ],
  usage: { prompt_tokens: 20, total_tokens: 20 },
})
const one = json(200, { data: [{ index: 0, embedding: [1, -0.5] }], usage: { prompt_tokens: 10 } })
const ofGemini = json(200, { embeddings: [{ values: [1] }, { values: [2] }] })
const sent = (): Record<string, unknown> | undefined => upstream.requests.at(-1)?.body

describe('Gemini', () => {
  const part = (text: string) => ({ role: 'user', parts: [{ text }] })
  const batch = (model: string, requests: object[], options = {}) =>
    app.call(`/gemini/v1beta/models/${model}:batchEmbedContents`, { requests }, options)

  test('answers a batch from a provider of another format, priced and with a record', async () => {
    upstream.script(two)
    const requests = ['a', 'b'].map(text => ({ model: `models/${OPENAI}`, content: part(text) }))
    const response = await batch(OPENAI, requests)
    expect(await response.json()).toEqual({
      embeddings: [{ values: [1, -0.5] }, { values: [2, -0.5] }],
      usageMetadata: { promptTokenCount: 20 },
    })
    expect(sent()).toEqual({ model: 'text-embedding-3-small', input: ['a', 'b'], encoding_format: 'float' })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'embeddings', status: 200, model: OPENAI, cost_usd: 0.0000004 })
  })

  test('passes task, title and dimensions to a Gemini model, in either spelling', async () => {
    upstream.script(ofGemini)
    const settings = { task_type: 'RETRIEVAL_DOCUMENT', title: 'Letters', output_dimensionality: 2 }
    const requests = ['a', 'b'].map(text => ({ content: part(text), ...settings }))
    expect((await batch(GEMINI, requests)).status).toBe(200)
    const expected = { taskType: 'RETRIEVAL_DOCUMENT', title: 'Letters', outputDimensionality: 2 }
    expect(sent()).toEqual({
      requests: ['a', 'b'].map(text => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
        ...expected,
      })),
    })
  })

  test('answers embedContent with one vector of all parts', async () => {
    upstream.script(one)
    const body = { content: { parts: [{ text: 'a' }, { text: 'b' }] } }
    const response = await app.call(`/gemini/v1/models/${OPENAI}:embedContent`, body)
    expect(await response.json()).toEqual({ embedding: { values: [1, -0.5] } })
    expect(sent()).toMatchObject({ input: ['a\nb'] })
  })

  test.each([
    ['another model in the body', { model: 'models/other', content: part('a') }, 'model'],
    ['no content', {}, 'content'],
    ['no parts', { content: { parts: [] } }, 'content.parts'],
    ['an image', { content: { parts: [{ inlineData: { data: 'eA==' } }] } }, 'content.parts[0]'],
    ['a text that is none', { content: { parts: [{ text: 1 }] } }, 'content.parts[0].text'],
    ['a title, which the target does not take', { content: part('a'), title: 'T' }, 'title'],
    ['an unknown field', { content: part('a'), audioTimestamp: true }, 'audioTimestamp'],
    ['a reserved field', { content: part('a'), fallbackModel: 'x' }, 'fallbackModel'],
    [
      'no whole number of dimensions',
      { content: part('a'), outputDimensionality: 1.5 },
      'outputDimensionality',
    ],
  ])('refuses %s by name', async (_title, body, param) => {
    const before = upstream.requests.length
    const response = await app.call(`/gemini/v1beta/models/${OPENAI}:embedContent`, body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { details: { metadata: object }[] } }
    expect(error.details[0]?.metadata).toMatchObject({ param })
    expect(upstream.requests.length).toBe(before)
  })

  test.each([
    ['no requests', [], 'requests'],
    ['too many requests', Array.from({ length: 2049 }, () => ({ content: part('a') })), 'requests'],
    ['a request that is none', ['a'], 'requests[0]'],
    [
      'different settings',
      [{ content: part('a') }, { content: part('b'), taskType: 'CLUSTERING' }],
      'requests[1].taskType',
    ],
    [
      'another model in a later request',
      [{ content: part('a') }, { model: 'models/gpt-4o', content: part('b') }],
      'requests[1].model',
    ],
  ])('refuses a batch of %s', async (_title, requests, param) => {
    const response = await batch(OPENAI, requests as object[])
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(`"param":"${param}"`)
  })
})

describe('Ollama', () => {
  test('answers /api/embed from a provider of another format', async () => {
    upstream.script(two)
    const body = {
      model: OPENAI,
      input: ['a', 'b'],
      truncate: false,
      keep_alive: '5m',
      options: { num_ctx: 1 },
    }
    expect(await (await app.call('/ollama/api/embed', body)).json()).toEqual({
      model: OPENAI,
      embeddings: [
        [1, -0.5],
        [2, -0.5],
      ],
      total_duration: expect.any(Number),
      load_duration: 0,
      prompt_eval_count: 20,
    })
    expect(sent()).toEqual({ model: 'text-embedding-3-small', input: ['a', 'b'], encoding_format: 'float' })
  })

  test('tells an Ollama server not to cut texts', async () => {
    upstream.script(json(200, { embeddings: [[1]], prompt_eval_count: 3 }))
    const body = { model: 'ollama/nomic-embed-text', input: 'a', truncate: false }
    expect((await app.call('/ollama/api/embed', body)).status).toBe(200)
    expect(sent()).toEqual({ model: 'nomic-embed-text', input: ['a'], truncate: false })
  })

  test.each([[[]], ['']])('has no vectors for %j, and asks no provider', async input => {
    const before = upstream.requests.length
    const response = await app.call('/ollama/api/embed', { model: OPENAI, input })
    expect(await response.json()).toMatchObject({ model: OPENAI, embeddings: [], prompt_eval_count: 0 })
    expect(upstream.requests.length).toBe(before)
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'embeddings', status: 200, cost_usd: 0 })
  })

  test('answers the older route with one vector', async () => {
    upstream.script(one)
    const response = await app.call('/ollama/api/embeddings', { model: OPENAI, prompt: 'a' })
    expect(await response.json()).toEqual({ embedding: [1, -0.5] })
  })

  test.each([
    ['/ollama/api/embed', { input: 1 }, 'input'],
    ['/ollama/api/embed', { input: null }, 'input'],
    ['/ollama/api/embed', { input: ['a', null] }, 'input[1]'],
    ['/ollama/api/embed', { input: 'a', options: 'x' }, 'options'],
    ['/ollama/api/embed', { input: 'a', dims: 3 }, 'dims'],
    ['/ollama/api/embeddings', {}, 'prompt'],
  ])('%s refuses %o', async (path, fields, param) => {
    const response = await app.call(path, { model: OPENAI, ...fields })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: expect.stringContaining(`${param}: `) })
  })
})

describe('Cohere', () => {
  const embed = (fields: object, options = {}) =>
    app.call(
      '/cohere/v2/embed',
      { model: OPENAI, texts: ['a', 'b'], input_type: 'search_query', ...fields },
      options,
    )

  test('answers in its shape from a provider of another format', async () => {
    upstream.script(two)
    const response = await embed({ embedding_types: ['float'], max_tokens: null })
    expect(await response.json()).toEqual({
      id: response.headers.get('x-request-id'),
      embeddings: {
        float: [
          [1, -0.5],
          [2, -0.5],
        ],
      },
      texts: ['a', 'b'],
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: 20 } },
      response_type: 'embeddings_by_type',
    })
  })

  test('passes its own words to Cohere, also for inputs of text parts', async () => {
    upstream.script(json(200, { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 2 } } }))
    const inputs = [{ content: [{ type: 'text', text: 'a' }] }]
    const fields = {
      model: 'cohere/embed-v4.0',
      texts: null,
      inputs,
      truncate: 'START',
      output_dimension: 256,
    }
    expect((await embed(fields)).status).toBe(200)
    expect(sent()).toEqual({
      model: 'embed-v4.0',
      texts: ['a'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 256,
      truncate: 'START',
    })
  })

  test('drops what a target cannot do and names it where the environment says so', async () => {
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'drop' })
    upstream.script(two)
    const response = await embed({ truncate: 'START', priority: 3 })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-rideau-dropped-params')).toBe('priority, truncate')
    expect(sent()).not.toHaveProperty('priority')
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'refuse' })
  })

  test.each([
    ['no purpose', { input_type: null }, 'input_type'],
    ['another type of vectors', { embedding_types: ['int8'] }, 'embedding_types[0]'],
    ['several types', { embedding_types: ['float', 'base64'] }, 'embedding_types'],
    ['images', { texts: null, inputs: [{ content: [{ type: 'image_url' }] }] }, 'inputs[0].content[0]'],
    ['texts beside inputs', { inputs: [] }, 'inputs'],
    ['a cut that the target cannot make', { truncate: 'START' }, 'truncate'],
  ])('refuses %s', async (_title, fields, param) => {
    const response = await embed(fields)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ param })
  })

  test('needs the scope of embeddings', async () => {
    const chatOnly = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    const response = await embed({}, { key: chatOnly.key })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ code: 'endpoint_not_allowed' })
  })

  test('accepts no unknown field from a client token, whatever the environment drops', async () => {
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'drop' })
    const key = await makePlaygroundToken(app)
    const response = await embed({ priority: 3 }, { key })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ param: 'priority' })
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'refuse' })
  })
})
