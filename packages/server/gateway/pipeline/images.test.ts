import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'gemini', 'xai', 'anthropic']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MODEL = 'openai/gpt-image-1'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const GENERATIONS = '/openai/v1/images/generations'

const made = json(200, {
  created: 1_700_000_000,
  background: 'opaque',
  output_format: 'png',
  quality: 'high',
  size: '1024x1024',
  data: [{ b64_json: 'QUJD' }],
  usage: {
    input_tokens: 50,
    input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    output_tokens: 4160,
    total_tokens: 4210,
  },
})

const drawn = json(200, {
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1290, totalTokenCount: 1300 },
})

async function errorOf(response: Response): Promise<Record<string, unknown>> {
  return ((await response.json()) as { error: Record<string, unknown> }).error
}

const SCHEMAS = new URL('../../../../../shared/wire/openai-schemas.json', import.meta.url)
if (!existsSync(SCHEMAS)) console.log('skipped: the schemas of ../shared/wire are not there (4 answers)')

/** Validates strictly against OpenAI's published schema, if that is available. */
function expectValid(answer: unknown): void {
  if (!existsSync(SCHEMAS)) return
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(JSON.parse(readFileSync(SCHEMAS, 'utf8')), 'openai')
  const check = ajv.compile({ $ref: 'openai#/components/schemas/ImagesResponse' })
  check(answer)
  expect(check.errors ?? []).toEqual([])
}

describe('POST {prefix}/v1/images/generations, by the official client', () => {
  test('sends an OpenAI target the same fields, answers with its usage, and logs the cost', async () => {
    upstream.script(made)
    const { data: answer, response } = await client.images
      .generate({
        model: MODEL,
        prompt: 'a fox',
        size: '1024x1024',
        quality: 'high',
        user: 'u',
        moderation: 'low',
      })
      .withResponse()
    expect(answer.data).toEqual([{ b64_json: 'QUJD' }])
    expect(answer).toMatchObject({ size: '1024x1024', quality: 'high', usage: { total_tokens: 4210 } })
    expectValid(answer)
    expect(upstream.requests.at(-1)).toMatchObject({
      path: '/v1/images/generations',
      headers: { authorization: 'Bearer sk-of-the-tenant' },
      body: {
        model: 'gpt-image-1',
        prompt: 'a fox',
        size: '1024x1024',
        quality: 'high',
        user: 'u',
        moderation: 'low',
      },
    })
    expect(response.headers.get('x-rideau-model')).toBe(MODEL)
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({
      endpoint: 'images',
      status: 200,
      model: MODEL,
      end_user_id: null,
      // 10 text tokens at $5, 40 image tokens at $10, 4160 output tokens at $40 per million.
      cost_usd: 0.16685,
    })
  })

  test('makes one call per image to a Gemini target, adds usage up, and maps the size', async () => {
    upstream.script(drawn)
    const before = upstream.requests.length
    const { data: answer, response } = await client.images
      .generate({ model: 'gemini/gemini-2.5-flash-image', prompt: 'a fox', n: 2, size: '1536x1024' })
      .withResponse()
    expect(answer.data).toEqual([{ b64_json: 'QUJD' }, { b64_json: 'QUJD' }])
    expect(answer.usage).toMatchObject({ input_tokens: 20, output_tokens: 2580, total_tokens: 2600 })
    expectValid(answer)
    expect(upstream.requests).toHaveLength(before + 2)
    expect(upstream.requests.at(-1)).toMatchObject({
      path: '/v1/models/gemini-2.5-flash-image:generateContent',
      body: { generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } } },
    })
    // 20 at $0.30 and 2580 at $30 per million.
    expect(await app.findLog(response.headers.get('x-request-id') as string)).toMatchObject({
      cost_usd: 0.077406,
    })
  })

  test('returns the images that were made, and charged, before a later call failed', async () => {
    upstream.script(drawn, json(400, { error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }))
    const answer = await client.images.generate({
      model: 'gemini/gemini-2.5-flash-image',
      prompt: 'a fox',
      n: 2,
    })
    expect(answer.data).toHaveLength(1)
  })

  test('ignores a cost reported at a custom address, whose owner could report zero', async () => {
    upstream.script(
      json(200, { data: [{ url: 'https://i.example/a.jpg' }], usage: { cost_in_usd_ticks: 200_000_000 } }),
    )
    const { data: answer, response } = await client.images
      .generate({ model: 'xai/grok-imagine-image', prompt: 'a fox', response_format: 'url' })
      .withResponse()
    expect(answer.data).toEqual([{ url: 'https://i.example/a.jpg' }])
    expectValid(answer)
    expect(await app.findLog(response.headers.get('x-request-id') as string)).toMatchObject({
      cost_usd: null,
    })
  })

  test('logs an unknown cost, never zero, without a known price', async () => {
    upstream.script(json(200, { data: [{ url: 'https://i.example/a.jpg' }] }))
    const { response } = await client.images
      .generate({ model: 'xai/grok-imagine-image', prompt: 'a fox' })
      .withResponse()
    expect(await app.findLog(response.headers.get('x-request-id') as string)).toMatchObject({
      cost_usd: null,
    })
  })
})

describe('before any provider is called', () => {
  const image = { model: MODEL, prompt: 'x' }
  test.each([
    ['a chat model', { model: 'openai/gpt-4o-mini', prompt: 'x' }, 'model_missing_capability', 'model'],
    [
      'a provider without images',
      { model: 'anthropic/claude-haiku-4-5', prompt: 'x' },
      'model_missing_capability',
      'model',
    ],
    ['no prompt', { model: MODEL }, 'invalid_request', 'prompt'],
    ['no model', { prompt: 'x' }, 'invalid_request', 'model'],
    ['eleven images', { ...image, n: 11 }, 'invalid_request', 'n'],
    ['a stream', { ...image, stream: true }, 'invalid_request', 'stream'],
    ['partial images', { ...image, partial_images: 2 }, 'invalid_request', 'partial_images'],
    ['images to edit', { ...image, images: [] }, 'invalid_request', 'images'],
    ['another count', { ...image, num_images: 4 }, 'invalid_request', 'num_images'],
    [
      'another count in an object',
      { ...image, parameters: { sample_count: 8 } },
      'invalid_request',
      'parameters.sample_count',
    ],
    [
      'another count in brackets',
      { ...image, 'parameters[n_images]': 8 },
      'invalid_request',
      'parameters[n_images]',
    ],
    [
      'another count in a text with JSON',
      { ...image, extra_body: '{"max_images":8}' },
      'invalid_request',
      'extra_body.max_images',
    ],
    ['other models', { ...image, models: ['openai/other'] }, 'invalid_request', 'models'],
    ['tools', { ...image, tools: [] }, 'invalid_request', 'tools'],
    [
      'a case variant of a priced field',
      { ...image, Quality: 'high' },
      'request_validation_failed',
      'Quality',
    ],
    [
      'an unsupported size',
      { model: 'gemini/gemini-2.5-flash-image', prompt: 'x', size: '1000x100' },
      'invalid_request',
      'size',
    ],
    [
      'a field of OpenAI alone',
      { model: 'gemini/gemini-2.5-flash-image', prompt: 'x', seed: 1 },
      'invalid_request',
      'seed',
    ],
  ])('refuses %s', async (_, body, code, param) => {
    const before = upstream.requests.length
    const response = await app.call(GENERATIONS, body)
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ code, param })
    expect(upstream.requests).toHaveLength(before)
  })

  test('refuses a key without the scope or the endpoint with 403', async () => {
    const scoped = await app.createKey({ scopes: ['ai.chat'] })
    const restricted = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    for (const { key } of [scoped, restricted]) {
      const response = await app.call(GENERATIONS, image, { key })
      expect(response.status).toBe(403)
      expect(await errorOf(response)).toMatchObject({ code: 'endpoint_not_allowed' })
    }
  })

  test('applies max_request_cost_usd to the highest possible cost, and refuses unknown prices', async () => {
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 0.1 } })
    const dear = await app.call(GENERATIONS, { ...image, quality: 'high' }, { key })
    expect(dear.status).toBe(402)
    expect(await errorOf(dear)).toMatchObject({ code: 'budget_exceeded' })
    const unpriced = await app.call(GENERATIONS, { model: 'xai/grok-imagine-image', prompt: 'x' }, { key })
    expect(unpriced.status).toBe(400)
    expect(await errorOf(unpriced)).toMatchObject({ code: 'model_unpriced', param: 'model' })
    upstream.script(made)
    const low = await app.call(GENERATIONS, { ...image, quality: 'low', size: '1024x1024' }, { key })
    expect(low.status).toBe(200)
  })
})

describe('a provider error', () => {
  test.each([
    [
      'OpenAI’s policy',
      MODEL,
      json(400, {
        error: { code: 'moderation_blocked', message: 'no', type: 'image_generation_user_error' },
      }),
      400,
      'content_filtered',
    ],
    [
      'Gemini’s policy, in a 200',
      'gemini/gemini-2.5-flash-image',
      json(200, { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }),
      400,
      'content_filtered',
    ],
    [
      'a parameter',
      MODEL,
      json(400, { error: { code: 'unknown_parameter', message: 'no', param: 'x' } }),
      400,
      'provider_rejected',
    ],
    [
      'the key',
      MODEL,
      json(401, { error: { code: 'invalid_api_key', message: 'no' } }),
      502,
      'provider_auth_failed',
    ],
  ] as const)('for %s has its status and code', async (_, model, answer, status, code) => {
    upstream.script(answer)
    const response = await app.call(GENERATIONS, { model, prompt: 'x' })
    expect(await errorOf(response)).toMatchObject({ code })
    expect(response.status).toBe(status)
  })
})

describe('sandbox/image', () => {
  test("draws and edits, gives the same image for the same prompt, and costs the catalogue's price", async () => {
    const draw = () =>
      client.images.generate({ model: 'sandbox/image', prompt: 'a fox', n: 2 }).withResponse()
    const { data: answer, response } = await draw()
    expect(answer.data).toHaveLength(2)
    expectValid(answer)
    expect(Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64').toString('latin1', 1, 4)).toBe('PNG')
    expect((await draw()).data.data).toEqual(answer.data)
    expect(await app.findLog(response.headers.get('x-request-id') as string)).toMatchObject({
      sandbox: true,
      cost_usd: 0.02,
    })
    const edited = await client.images.edit({
      model: 'sandbox/image',
      prompt: 'a fox',
      image: await toFile(PNG, 'a.png', { type: 'image/png' }),
    })
    expect(edited.data?.[0]?.b64_json).not.toBe(answer.data?.[0]?.b64_json)
  })
})
