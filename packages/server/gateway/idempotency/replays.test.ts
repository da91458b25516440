import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  app = await openTestApp()
  for (const provider of ['custom', 'openai']) {
    await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await app.close()
  await upstream.close()
})

const ASKED = [{ role: 'user', content: 'hi' }]
const MODEL = 'custom/m'
const IN_PATH = encodeURIComponent(MODEL)
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const CONVERSE = { messages: [{ role: 'user', content: [{ text: 'hi' }] }] }
const plain = completion('hello')
const streamed = streamedCompletion('one', ' two', ' three')
const embedded = json(200, {
  object: 'list',
  model: 'm',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }],
  usage: { prompt_tokens: 2, total_tokens: 2 },
})
const EMBEDDINGS = { model: MODEL, input: 'hi' }
const drawn = json(200, { created: 1_700_000_000, data: [{ b64_json: 'QUJD' }] })
const DRAW = { model: 'openai/gpt-image-1', prompt: 'a cat' }

const CALLS = [
  ['native chat', '/v1/chat', { model: MODEL, messages: ASKED }, plain],
  ['a native stream', '/v1/chat', { model: MODEL, messages: ASKED, stream: true }, streamed],
  ['native embeddings', '/v1/embeddings', EMBEDDINGS, embedded],
  ['OpenAI chat', '/openai/v1/chat/completions', { model: MODEL, messages: ASKED }, plain],
  [
    'an OpenAI stream',
    '/openai/v1/chat/completions',
    { model: MODEL, messages: ASKED, stream: true },
    streamed,
  ],
  ['OpenAI responses', '/openai/v1/responses', { model: MODEL, input: 'hi' }, plain],
  ['a stream of responses', '/openai/v1/responses', { model: MODEL, input: 'hi', stream: true }, streamed],
  ['OpenAI embeddings', '/openai/v1/embeddings', EMBEDDINGS, embedded],
  ['OpenAI images', '/openai/v1/images/generations', DRAW, drawn],
  ['Anthropic messages', '/anthropic/v1/messages', { model: MODEL, messages: ASKED, max_tokens: 9 }, plain],
  [
    'an Anthropic stream',
    '/anthropic/v1/messages',
    { model: MODEL, messages: ASKED, max_tokens: 9, stream: true },
    streamed,
  ],
  ['Gemini', `/gemini/v1beta/models/${IN_PATH}:generateContent`, CONTENTS, plain],
  ['a Gemini list', `/gemini/v1beta/models/${IN_PATH}:streamGenerateContent`, CONTENTS, streamed],
  ['a Gemini stream', `/gemini/v1beta/models/${IN_PATH}:streamGenerateContent?alt=sse`, CONTENTS, streamed],
  ['Ollama', '/ollama/api/chat', { model: MODEL, messages: ASKED, stream: false }, plain],
  ['an Ollama stream', '/ollama/api/chat', { model: MODEL, messages: ASKED }, streamed],
  ['Cohere', '/cohere/v2/chat', { model: MODEL, messages: ASKED, stream: false }, plain],
  ['a Cohere stream', '/cohere/v2/chat', { model: MODEL, messages: ASKED, stream: true }, streamed],
  ['Converse', `/bedrock/model/${IN_PATH}/converse`, CONVERSE, plain],
  ['a Converse stream', `/bedrock/model/${IN_PATH}/converse-stream`, CONVERSE, streamed],
] as const

async function bytesOf(response: Response): Promise<string> {
  return Buffer.from(await response.arrayBuffer()).toString('latin1')
}

async function countReplays(): Promise<number> {
  const text = await (await fetch(`${app.metricsUrl}/metrics`)).text()
  return Number(/^rideau_replays_total (\d+)$/m.exec(text)?.[1])
}

describe('a call that is repeated with its Idempotency-Key', () => {
  test.each(CALLS)('of %s gets the same bytes without a provider', async (_name, route, body, answer) => {
    upstream.script(answer)
    const before = upstream.requests.length
    const headers = { 'idempotency-key': randomUUID() }
    const first = await app.call(route, body, { headers })
    const bytes = await bytesOf(first)
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
    upstream.script(json(500, {}))
    const counted = await countReplays()
    for (const response of [
      await app.call(route, body, { headers }),
      await app.call(route, body, { headers }),
    ]) {
      expect(response.status).toBe(200)
      expect(await bytesOf(response)).toBe(bytes)
      expect(response.headers.get('idempotent-replayed')).toBe('true')
      for (const name of ['content-type', 'x-rideau-model', 'x-rideau-provider', 'cache-control'])
        expect(response.headers.get(name)).toBe(first.headers.get(name))
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(response.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    }
    expect(await countReplays()).toBe(counted + 2)
    expect(upstream.requests.length).toBe(before + 1)
  })

  test('as an image edit with another boundary gets the same bytes; with another file, field or mask it is a conflict', async () => {
    upstream.script(drawn)
    const before = upstream.requests.length
    const key = randomUUID()
    const edit = async (files: Record<string, string>, prompt = 'green'): Promise<[number, string]> => {
      const form = new FormData()
      form.set('model', DRAW.model)
      form.set('prompt', prompt)
      for (const [name, base64] of Object.entries(files))
        form.append(name.replace(/\d/, ''), new Blob([Buffer.from(base64, 'base64')]), 'a.png')
      const response = await fetch(`${app.gatewayUrl}/openai/v1/images/edits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.secretKey}`, 'idempotency-key': key },
        body: form,
      })
      return [response.status, await response.text()]
    }
    const first = await edit({ image: PNG })
    expect(first[0]).toBe(200)
    expect(await edit({ image: PNG })).toEqual(first)
    const others = [
      await edit({ image: OTHER_PNG }),
      await edit({ image: PNG, mask: PNG }),
      await edit({ 'image[]1': PNG, 'image[]2': PNG }),
      await edit({ image: PNG }, 'red'),
    ]
    expect(others.map(([status]) => status)).toEqual([409, 409, 409, 409])
    expect(upstream.requests.length).toBe(before + 1)
  })

  test('gets the same frames for a stream, each in a chunk of its own', async () => {
    upstream.script(streamed)
    const body = JSON.stringify({ model: MODEL, max_tokens: 9, messages: ASKED, stream: true })
    const key = randomUUID()
    const chunks = async (): Promise<string[]> => {
      const raw = await openRaw(app.gatewayUrl)
      raw.socket.write(
        `POST /anthropic/v1/messages HTTP/1.1\r\nHost: l\r\nAuthorization: Bearer ${app.secretKey}\r\n` +
          `Content-Type: application/json\r\nIdempotency-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n` +
          body,
      )
      const text = await raw.until('\r\n0\r\n\r\n')
      raw.socket.destroy()
      return splitChunks(text.slice(text.indexOf('\r\n\r\n') + 4))
    }
    const first = await chunks()
    const replayed = await chunks()
    // The first answer may have in one chunk what one read of the provider brought.
    expect(replayed.join('')).toBe(first.join(''))
    const texts = replayed.map(chunk => chunk.match(/"text":"[^"]+"/g) ?? [])
    expect(texts.filter(found => found.length > 0)).toEqual(
      ['one', ' two', ' three'].map(text => [`"text":"${text}"`]),
    )
    expect(replayed.every(chunk => chunk.endsWith('\n\n'))).toBe(true)
  })

  test('keeps the id of the first answer', async () => {
    upstream.script(plain)
    const headers = { 'idempotency-key': randomUUID() }
    const ask = () => app.call('/v1/chat', { model: MODEL, messages: ASKED }, { headers })
    const first = await ask()
    const id = first.headers.get('x-request-id')
    expect(((await first.json()) as any).id).toBe(id)
    expect(((await (await ask()).json()) as any).id).toBe(id)
  })

  test('is allowed in preflights', async () => {
    const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    })
    expect(response.headers.get('access-control-allow-headers')).toContain('Idempotency-Key')
  })

  test('as a token count is answered anew, since it costs nothing', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const count = async (content: string) => {
      const body = { model: MODEL, messages: [{ role: 'user', content }] }
      const response = await app.call('/anthropic/v1/messages/count_tokens', body, { headers })
      return [response.status, response.headers.get('idempotent-replayed')]
    }
    expect([await count('hi'), await count('hi'), await count('other')]).toEqual(Array(3).fill([200, null]))
  })
})

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const OTHER_PNG = `${PNG.slice(0, 60)}A${PNG.slice(61)}`

function splitChunks(text: string): string[] {
  const chunks: string[] = []
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at)
    const length = Number.parseInt(text.slice(at, line), 16)
    if (length === 0) return chunks
    chunks.push(text.slice(line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
}
