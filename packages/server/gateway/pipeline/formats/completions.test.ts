import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  cutStream,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

/** OpenAI's older completions of a bare prompt. */

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['custom', 'anthropic']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MODEL = 'custom/my-model'
const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 }
const choice = (fields: object): object => ({
  index: 0,
  text: '',
  logprobs: null,
  finish_reason: null,
  ...fields,
})
const body = (...choices: object[]): object => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'my-model',
  choices,
  usage,
})
const chunk = (...choices: object[]): string =>
  `data: ${JSON.stringify({ ...body(...choices), usage: null })}\n\n`
const complete = (fields: object, options = {}): Promise<Response> =>
  app.call('/openai/v1/completions', { model: MODEL, prompt: 'hi', ...fields }, options)
const sent = () => upstream.requests.at(-1)

describe('a server of the format', () => {
  test('gets the body as it came, and its answer passes through', async () => {
    const answered = body(choice({ text: 'Noon.', finish_reason: 'stop' }))
    upstream.script(json(200, answered))
    const prompt = ['a', 'b']
    const asked = { prompt, max_tokens: 5, echo: true, logprobs: 2, n: 2, best_of: 3, suffix: '!', top_k: 3 }
    const response = await complete(asked)
    expect(await response.json()).toEqual(answered)
    expect(sent()).toMatchObject({ path: '/v1/completions', body: { ...asked, model: 'my-model' } })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'chat', status: 200, usage: { input_tokens: 4, output_tokens: 2 } })
  })

  test('is asked for usage in a stream, which only callers who asked for it get', async () => {
    const frames = [
      chunk(choice({ text: 'No' })),
      chunk(choice({ text: 'on.', finish_reason: 'stop' })),
      `data: ${JSON.stringify({ ...body(), choices: [] })}\n\n`,
      'data: [DONE]\n\n',
    ]
    upstream.script(stream(...frames))
    const unasked = await complete({ stream: true })
    const text = await unasked.text()
    expect(text).not.toContain('usage')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(sent()?.body).toMatchObject({ stream_options: { include_usage: true } })
    const seen: string[] = []
    const stream_options = { include_usage: true }
    let counted: unknown
    for await (const each of await client.completions.create({
      model: MODEL,
      prompt: 'hi',
      stream: true,
      stream_options,
    })) {
      seen.push(each.choices[0]?.text ?? '')
      counted = each.usage ?? counted
    }
    expect(seen.join('')).toBe('Noon.')
    expect(counted).toEqual(usage)
  })

  test('leaves an error at the end of a stream that breaks', async () => {
    upstream.script(cutStream(chunk(choice({ text: 'No' }))))
    const text = await (await complete({ stream: true })).text()
    expect(text).toContain('"code":"stream_interrupted"')
    expect(text).not.toContain('[DONE]')
  })

  test('has its missing usage estimated and shown', async () => {
    const { usage: _, ...without } = body(choice({ text: 'Noon.', finish_reason: 'stop' })) as {
      usage: object
    }
    upstream.script(json(200, without))
    const answered = (await (await complete({})).json()) as { usage: { completion_tokens: number } }
    expect(answered.usage.completion_tokens).toBeGreaterThan(0)
  })
})

test('answers from the sandbox, plain and as a stream', async () => {
  const asked = { model: 'sandbox/echo', prompt: 'hi there' }
  expect((await client.completions.create(asked)).choices[0]?.text).toContain('hi there')
  let text = ''
  for await (const each of await client.completions.create({ ...asked, stream: true })) {
    text += each.choices[0]?.text ?? ''
  }
  expect(text).toContain('hi there')
})

test('multiplies what is reserved by prompts and answers', async () => {
  const limit = { scope: 'environment', metric: 'tokens', limit: 200, window_seconds: 60 }
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/limits`, limit)
  upstream.script(json(200, body(choice({ text: 'x', finish_reason: 'stop' }))))
  expect((await complete({ max_tokens: 50 })).status).toBe(200)
  expect((await complete({ max_tokens: 50, best_of: 4 })).status).toBe(429)
  expect((await complete({ max_tokens: 50, prompt: ['a', 'b', 'c', 'd'] })).status).toBe(429)
  await app.manage('DELETE', `/v1/limits/${made.body.id}`)
})

test.each([
  ['no prompt', { prompt: null }, 'prompt'],
  ['no prompts', { prompt: [] }, 'prompt'],
  ['prompts of two kinds', { prompt: ['a', [1]] }, 'prompt[1]'],
  ['tokens that are none', { prompt: [1.5] }, 'prompt[0]'],
  ['an object', { prompt: [{ role: 'user' }] }, 'prompt[0]'],
  ['too many answers', { n: 129 }, 'n'],
  ['too many answers in all', { n: 100, prompt: Array(30).fill('a') }, 'n'],
  ['the best of several in a stream', { best_of: 2, stream: true }, 'best_of'],
  ['another model', { models: ['x'] }, 'models'],
  ['messages', { messages: [] }, 'messages'],
])('refuses %s', async (_title, fields, param) => {
  const before = upstream.requests.length
  const response = await complete(fields)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { param } })
  expect(upstream.requests.length).toBe(before)
})

test('refuses a model of another format', async () => {
  const response = await complete({ model: 'anthropic/claude-haiku-4-5' })
  expect(await response.json()).toMatchObject({ error: { code: 'model_missing_capability', param: 'model' } })
})

test.each([
  [{ n: 2 }, 'n'],
  [{ best_of: 2 }, 'best_of'],
  [{ prompt: ['a', 'b'] }, 'prompt'],
  [{ top_k: 3 }, 'top_k'],
])('accepts no %o from a client token', async (fields, param) => {
  const response = await complete(fields, { key: await makePlaygroundToken(app) })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { param } })
})
