import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** What clients get wrong or ask for by default, and how an answer sets them right. */

const MODEL = 'openai/gpt-4o-mini'

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

describe('a thread of Anthropic', () => {
  const body = { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }

  test.each(['/anthropic/v1/messages', '/anthropic/v1/messages/count_tokens'])(
    'is refused at %s with the details at which clients go on without one',
    async path => {
      const response = await app.call(path, { ...body, thread: { type: 'create' } })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          type: 'error',
          error: {
            type: 'invalid_request_error',
            code: 'invalid_request',
            param: 'thread',
            details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
          },
        },
      ])
    },
  )

  test('no other refusal has such details, nor has this one in another format', async () => {
    const other: any = await (await app.call('/anthropic/v1/messages', { ...body, container: 'c' })).json()
    expect(other.error.details).toBeUndefined()
    const native: any = await (await app.call('/v1/chat', { ...body, thread: {} })).json()
    expect(native.error.details).toBeUndefined()
  })

  test("the official client's tool runner ends its loop", async () => {
    const before = upstream.requests.length
    upstream.script(completion('Noon.'))
    const client = new Anthropic({ baseURL: `${app.gatewayUrl}/anthropic`, apiKey: app.secretKey })
    const runner = client.beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'What time is it?' }],
      tools: [],
    })
    expect((await runner.runUntilDone()).content).toMatchObject([{ type: 'text', text: 'Noon.' }])
    expect(upstream.requests.slice(before).map(({ body: sent }) => sent.thread)).toEqual([undefined])
  })
})

describe("a path of Google's format without the collection of models", () => {
  const contents = [{ role: 'user', parts: [{ text: 'What time is it?' }] }]

  test.each(['/gemini/v1beta', '/gemini/v1', '/gemini/v1alpha'])('is served below %s', async version => {
    upstream.script(completion('Noon.'))
    for (const name of [MODEL, MODEL.replace('/', '%2F')]) {
      const answer = await app.call(`${version}/${name}:generateContent`, { contents })
      expect(await answer.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: 'Noon.' }] } }] })
      expect(answer.headers.get('x-rideau-model')).toBe(MODEL)
    }
    const counted = await app.call(`${version}/${MODEL}:countTokens`, { contents })
    expect(await counted.json()).toEqual({ totalTokens: expect.any(Number) })
  })

  test('streams too', async () => {
    for (const query of ['', '?alt=sse']) {
      const answer = await app.call(`/gemini/v1beta/sandbox/echo:streamGenerateContent${query}`, { contents })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"finishReason"')])
    }
  })

  test('is held to what the key allows', async () => {
    const { key } = await app.createKey({ restrictions: { allowed_models: ['sandbox/*'] } })
    const answer = await app.call(`/gemini/v1beta/${MODEL}:generateContent`, { contents }, { key })
    expect(answer.status).toBe(403)
  })
})

test.each([
  ['/v1/chat/completions', 'POST /openai/v1/chat/completions'],
  ['/v1/responses', 'POST /openai/v1/responses'],
  ['/v1/messages', 'POST /anthropic/v1/messages'],
  ['/openai/chat/completions', 'POST /openai/v1/chat/completions'],
  ['/openai/v1/v1/chat/completions', 'POST /openai/v1/chat/completions'],
])('404 route_not_found at %s names %s, with a key or without', async (path, route) => {
  for (const key of [app.secretKey, 'rd_sk_wrong']) {
    const response = await app.call(path, {}, { key })
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { code: 'route_not_found', message: expect.stringContaining(`Use ${route}.`) } },
    ])
  }
})
