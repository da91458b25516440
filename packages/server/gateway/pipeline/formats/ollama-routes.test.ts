import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

/** Ollama's route of one prompt, and what its server offers of other formats. */

let app: TestApp
let other: ScriptedUpstream
let same: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  other = await openScriptedUpstream()
  same = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: other.baseUrl })
  await app.addCredential('ollama', { base_url: same.origin })
})

afterAll(async () => {
  await other.close()
  await same.close()
  await app.close()
})

const OTHER = 'openai/gpt-4o'
const SAME = 'ollama/qwen3:8b'
const generate = (fields: object, options = {}): Promise<Response> =>
  app.call('/ollama/api/generate', { model: OTHER, prompt: 'hi', ...fields }, options)

describe('/api/generate', () => {
  test.each<[object, string]>([
    [{ prompt: null }, 'load'],
    [{ prompt: '', stream: true, options: {} }, 'load'],
    [{ prompt: '', keep_alive: '5m', raw: true }, 'load'],
    [{ prompt: '', keep_alive: 0 }, 'unload'],
  ])('%j is answered at once, as there is nothing to load: %s', async (fields, reason) => {
    const before = other.requests.length
    const response = await generate(fields)
    expect(await response.json()).toEqual({
      model: OTHER,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      response: '',
      done: true,
      done_reason: reason,
    })
    expect(other.requests.length).toBe(before)
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'chat', status: 200, model: OTHER, cost_usd: 0 })
  })

  test('loads no model that the caller may not use', async () => {
    const { key } = await app.createKey({ restrictions: { allowed_models: ['ollama/*'] } })
    expect((await generate({ prompt: '' }, { key })).status).toBe(403)
    expect((await generate({ prompt: '', model: 'sandbox/nothing' })).status).toBe(404)
  })

  test('asks a provider of another format as a chat of one message', async () => {
    other.script(completion('Noon.'))
    const images = ['iVBORw0KGgo=']
    const response = await generate({
      stream: false,
      system: 'Be brief.',
      images,
      options: { num_predict: 9 },
    })
    expect(await response.json()).toEqual({
      model: OTHER,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      response: 'Noon.',
      done: true,
      done_reason: 'stop',
      total_duration: expect.any(Number),
      load_duration: 0,
      prompt_eval_count: 12,
      prompt_eval_duration: 0,
      eval_count: 3,
      eval_duration: expect.any(Number),
    })
    expect(other.requests.at(-1)?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
      max_completion_tokens: 9,
    })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ surface: 'ollama', endpoint: 'chat', status: 200, model: OTHER })
    expect(log.cost_usd).toBeGreaterThan(0)
  })

  test('streams lines of text unless told otherwise', async () => {
    other.script(streamedCompletion('It is ', 'noon.'))
    const response = await generate({})
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await response.text()).trimEnd().split('\n')
    const parsed = lines.map(line => JSON.parse(line))
    expect(parsed.map(line => line.response).join('')).toBe('It is noon.')
    expect(parsed.every(line => !('message' in line))).toBe(true)
    expect(parsed.at(-1)).toMatchObject({ done: true, done_reason: 'stop', response: '', eval_count: 3 })
  })

  test("answers an Ollama server's chat in the shape of this route, and passes its options", async () => {
    const message = { role: 'assistant', content: 'Noon.', thinking: 'Hm.' }
    same.script(json(200, { model: 'qwen3:8b', message, done: true, done_reason: 'stop', eval_count: 3 }))
    const fields = { model: SAME, stream: false, think: true, keep_alive: '5m', options: { num_ctx: 2048 } }
    expect(await (await generate(fields)).json()).toMatchObject({
      response: 'Noon.',
      thinking: 'Hm.',
      done: true,
    })
    expect(same.requests.at(-1)).toMatchObject({
      path: '/api/chat',
      body: {
        messages: [{ role: 'user', content: 'hi' }],
        think: true,
        keep_alive: '5m',
        options: { num_ctx: 2048 },
      },
    })
  })

  test("translates an Ollama server's stream too", async () => {
    const line = (fields: object): string => `${JSON.stringify({ model: 'qwen3:8b', ...fields })}\n`
    same.script(
      stream(
        line({ message: { role: 'assistant', content: 'No' }, done: false }),
        line({ message: { role: 'assistant', content: 'on.' }, done: false }),
        line({
          message: { content: '' },
          done: true,
          done_reason: 'stop',
          prompt_eval_count: 1,
          eval_count: 2,
        }),
      ),
    )
    const lines = (await (await generate({ model: SAME })).text()).trimEnd().split('\n')
    expect(lines.map(each => JSON.parse(each).response)).toEqual(['No', 'on.', ''])
  })

  test.each([
    ['a prompt that is no text', { prompt: 1 }, 'prompt'],
    ['messages', { messages: [] }, 'messages'],
    ['tools', { tools: [] }, 'tools'],
    ['a suffix', { suffix: 'end' }, 'suffix'],
    ['a template', { template: '{{ .Prompt }}' }, 'template'],
    ['a raw prompt', { raw: true }, 'raw'],
    ['a context', { context: [1, 2] }, 'context'],
    ['a context that is none', { context: 'x' }, 'context'],
    ['what is no image', { images: ['x'] }, 'images[0]'],
    ['an unknown field', { modelfile: 'x' }, 'modelfile'],
  ])('refuses %s by name', async (_title, fields, param) => {
    const response = await generate(fields)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: expect.stringContaining(`${param}: `) })
  })

  test('lets no client token set how a server runs the model or continue another conversation', async () => {
    const key = await makePlaygroundToken(app)
    for (const fields of [{ keep_alive: -1 }, { context: [1] }, { options: { num_ctx: 1e6 } }]) {
      const response = await generate({ model: SAME, ...fields }, { key })
      expect(response.status).toBe(400)
    }
  })
})

describe('/ollama/v1', () => {
  test("serves OpenAI's official client", async () => {
    const client = new OpenAI({
      baseURL: `${app.gatewayUrl}/ollama/v1`,
      apiKey: app.secretKey,
      maxRetries: 0,
    })
    other.script(completion('Noon.'))
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const answer = await client.chat.completions.create({ model: OTHER, messages })
    expect(answer.choices[0]?.message.content).toBe('Noon.')
    expect((await client.responses.create({ model: 'sandbox/echo', input: 'hi' })).output_text).toContain(
      'hi',
    )
    expect((await client.embeddings.create({ model: 'sandbox/embed', input: 'hi' })).data).toHaveLength(1)
    expect((await client.models.retrieve('sandbox/echo')).id).toBe('sandbox/echo')
    await expect(client.chat.completions.create({ model: 'sandbox/nope', messages })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
  })

  test("serves Anthropic's messages, with failures in their shape", async () => {
    const body = { model: 'sandbox/echo', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }
    const headers = { 'x-api-key': app.secretKey, authorization: '' }
    const answer = await app.call('/ollama/v1/messages', body, { headers })
    expect(await answer.json()).toMatchObject({ type: 'message', content: [{ type: 'text' }] })
    const refused = await app.call('/ollama/v1/messages', { ...body, messages: 1 })
    expect(await refused.json()).toMatchObject({ type: 'error' })
  })

  test("answers an unknown path below it in OpenAI's shape", async () => {
    const response = await app.call('/ollama/v1/nothing', {})
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'route_not_found' } })
  })
})
