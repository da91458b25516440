import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'mistral', 'gemini', 'anthropic']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MODEL = 'openai/text-embedding-3-small'

/** Answers like OpenAI, in the requested encoding. The vector of the n-th input is [n, -0.5]. */
const vectors: UpstreamAnswer = (res, { body }) => {
  const inputs = (Array.isArray(body.input) ? body.input : [body.input]) as string[]
  const toVector = (index: number): unknown => {
    const floats = new Float32Array([Number(inputs[index]?.replace(/\D/g, '') || index), -0.5])
    return body.encoding_format === 'base64' ? Buffer.from(floats.buffer).toString('base64') : [...floats]
  }
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: toVector(index) }))
  const usage = { prompt_tokens: 10 * inputs.length, total_tokens: 10 * inputs.length }
  json(200, { object: 'list', data, model: body.model, usage })(res, {} as never)
}

async function errorOf(response: Response): Promise<Record<string, any>> {
  return ((await response.json()) as { error: Record<string, any> }).error
}

describe('POST /v1/embeddings', () => {
  test("returns a vector for each input, usage and the catalogue's cost, and leaves a record", async () => {
    upstream.script(vectors)
    const response = await app.call('/v1/embeddings', { model: MODEL, input: ['text 1', 'text 2'] })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-rideau-provider')).toBe('openai')
    expect(await response.json()).toEqual({
      object: 'list',
      model: MODEL,
      provider: 'openai',
      data: [
        { object: 'embedding', index: 0, embedding: [1, -0.5] },
        { object: 'embedding', index: 1, embedding: [2, -0.5] },
      ],
      usage: { input_tokens: 20, total_tokens: 20 },
      // 20 tokens at $0.02 per million.
      cost_usd: 0.0000004,
    })
    expect(upstream.requests.at(-1)).toMatchObject({
      path: '/v1/embeddings',
      body: { model: 'text-embedding-3-small', input: ['text 1', 'text 2'], encoding_format: 'float' },
    })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'embeddings', status: 200, model: MODEL, cost_usd: 0.0000004 })
  })

  test('returns base64 if requested, whether the provider supports it or not', async () => {
    upstream.script(vectors)
    for (const model of [MODEL, 'mistral/mistral-embed']) {
      const body = { model, input: 'text 7', encoding_format: 'base64', dimensions: 2 }
      const answer = (await (await app.call('/v1/embeddings', body)).json()) as { data: unknown[] }
      const embedding = Buffer.from(new Float32Array([7, -0.5]).buffer).toString('base64')
      expect(answer.data).toEqual([{ object: 'embedding', index: 0, embedding }])
    }
    expect(upstream.requests.at(-1)?.body).toEqual({
      model: 'mistral-embed',
      input: ['text 7'],
      output_dimension: 2,
    })
  })

  test('splits more inputs than the provider accepts into several calls, and joins the answers in order', async () => {
    const seen: number[] = []
    upstream.script((res, { body }) => {
      const requests = body.requests as { content: { parts: { text: string }[] } }[]
      seen.push(requests.length)
      const embeddings = requests.map(({ content }) => ({
        values: [Number(content.parts[0]?.text.replace(/\D/g, ''))],
      }))
      json(200, { embeddings, usageMetadata: { promptTokenCount: requests.length } })(res, {} as never)
    })
    const input = Array.from({ length: 250 }, (_, index) => `text ${index}`)
    const response = await app.call('/v1/embeddings', { model: 'gemini/gemini-embedding-2', input })
    const answer = (await response.json()) as { data: { embedding: number[] }[]; usage: object }
    expect(answer.data.map(({ embedding }) => embedding[0])).toEqual(input.map((_, index) => index))
    expect(answer.usage).toEqual({ input_tokens: 250, total_tokens: 250 })
    expect([...seen].sort((a, b) => a - b)).toEqual([50, 100, 100])
  })

  test('fails the request if one of several calls fails', async () => {
    upstream.script(json(400, { error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }))
    const input = Array.from({ length: 250 }, (_, index) => `text ${index}`)
    const response = await app.call('/v1/embeddings', { model: 'gemini/gemini-embedding-2', input })
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ code: 'provider_rejected' })
  })

  test.each([
    ['a chat model', { model: 'openai/gpt-4o-mini', input: 'x' }, 404, 'embeddings_not_supported', 'model'],
    [
      'a provider without any',
      { model: 'anthropic/claude-haiku-4-5', input: 'x' },
      404,
      'embeddings_not_supported',
      'model',
    ],
    ['no input', { model: MODEL }, 400, 'invalid_request', 'input'],
    ['an empty list', { model: MODEL, input: [] }, 400, 'invalid_request', 'input'],
    ['tokens, natively', { model: MODEL, input: [1, 2] }, 400, 'invalid_request', 'input[0]'],
    ['2049 inputs', { model: MODEL, input: Array(2049).fill('x') }, 400, 'invalid_request', 'input'],
    [
      'another encoding',
      { model: MODEL, input: 'x', encoding_format: 'int8' },
      400,
      'invalid_request',
      'encoding_format',
    ],
    ['no dimensions', { model: MODEL, input: 'x', dimensions: 0 }, 400, 'invalid_request', 'dimensions'],
    ['an unknown field', { model: MODEL, input: 'x', foo: 1 }, 400, 'invalid_request', 'foo'],
    ['an unknown model', { model: 'sandbox/nothing-such', input: 'x' }, 404, 'model_not_found', 'model'],
    [
      'no credential',
      { model: 'voyage/voyage-3.5', input: 'x' },
      400,
      'provider_credential_missing',
      'model',
    ],
  ])('refuses %s', async (_, body, status, code, param) => {
    const before = upstream.requests.length
    const response = await app.call('/v1/embeddings', body)
    expect(response.status).toBe(status)
    expect(await errorOf(response)).toMatchObject({ code, param })
    expect(upstream.requests).toHaveLength(before)
  })

  test('refuses a key without the scope or the endpoint with 403 endpoint_not_allowed', async () => {
    const scoped = await app.createKey({ scopes: ['ai.chat'] })
    const restricted = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    for (const { key } of [scoped, restricted]) {
      const response = await app.call('/v1/embeddings', { model: MODEL, input: 'x' }, { key })
      expect(response.status).toBe(403)
      expect(await errorOf(response)).toMatchObject({ code: 'endpoint_not_allowed' })
    }
  })

  test("applies the key's max_request_cost_usd with 402 budget_exceeded", async () => {
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 0.000001 } })
    const long = await app.call('/v1/embeddings', { model: MODEL, input: 'word '.repeat(1000) }, { key })
    expect(long.status).toBe(402)
    expect(await errorOf(long)).toMatchObject({
      code: 'budget_exceeded',
      param: 'restrictions.max_request_cost_usd',
    })
    upstream.script(vectors)
    expect((await app.call('/v1/embeddings', { model: MODEL, input: 'short' }, { key })).status).toBe(200)
  })
})

describe("the official client in OpenAI's format", () => {
  test('gets numbers, though it requests base64 by itself', async () => {
    upstream.script(vectors)
    const answer = await client.embeddings.create({ model: MODEL, input: ['text 3', 'text 4'] })
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([
      [3, -0.5],
      [4, -0.5],
    ])
    expect(answer.usage).toEqual({ prompt_tokens: 20, total_tokens: 20 })
    expect(upstream.requests.at(-1)?.body).toMatchObject({ encoding_format: 'base64' })
  })

  test('sends tokens to providers that accept them, and is refused by text-only ones', async () => {
    upstream.script((res, { body }) => {
      const data = (body.input as number[][]).map((_, index) => ({ index, embedding: [1] }))
      json(200, { data, usage: { prompt_tokens: 5 } })(res, {} as never)
    })
    const create = (model: string) =>
      client.embeddings.create({ model, input: [[1, 2], [3]], encoding_format: 'float' })
    expect((await create(MODEL)).data).toHaveLength(2)
    await expect(create('mistral/mistral-embed')).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'input',
    })
  })

  test('passes unknown fields on, and refuses reserved ones', async () => {
    upstream.script(vectors)
    const body = { model: MODEL, input: 'x', new_field: { a: 1 } } as OpenAI.EmbeddingCreateParams
    await client.embeddings.create(body)
    expect(upstream.requests.at(-1)?.body).toMatchObject({ new_field: { a: 1 } })
    const reserved = { ...body, models: ['openai/other'] } as OpenAI.EmbeddingCreateParams
    await expect(client.embeddings.create(reserved)).rejects.toMatchObject({ status: 400, param: 'models' })
  })
})

test('the end user that a body names is not sent to the provider', async () => {
  upstream.script(vectors)
  const answer = await app.call('/openai/v1/embeddings', { model: MODEL, input: 'x', end_user: 'alice' })
  expect(answer.status).toBe(200)
  expect(upstream.requests.at(-1)?.body).not.toHaveProperty('end_user')
})

describe('sandbox/embed', () => {
  const embed = async (body: object) => {
    const response = await app.call('/v1/embeddings', { model: 'sandbox/embed', ...body })
    return (await response.json()) as { data: { embedding: number[] }[]; usage: object; cost_usd: number }
  }
  const dot = (a: number[], b: number[]) =>
    a.reduce((sum, value, index) => sum + value * (b[index] as number), 0)

  test('returns the same vector of length 1 and the requested size for the same text, and near ones for similar texts', async () => {
    const input = ['the cat sat on the mat', 'the cat lay on the mat', 'budget report of november']
    const { data, usage, cost_usd } = await embed({ input, dimensions: 128 })
    const [sat, lay, report] = data.map(({ embedding }) => embedding) as [number[], number[], number[]]
    expect(sat).toHaveLength(128)
    expect(dot(sat, sat)).toBeCloseTo(1, 6)
    expect(dot(sat, lay)).toBeGreaterThan(dot(sat, report))
    expect((await embed({ input: input[0], dimensions: 128 })).data[0]?.embedding).toEqual(sat)
    expect(usage).toMatchObject({ sandbox: true })
    expect(cost_usd).toBeGreaterThan(0)
  })
})
