import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fromBackend } from './from-backend.ts'
import { RideauClient } from './rideau-client.ts'
import { createManualRuntime, type ManualRuntime } from './testing/manual-runtime.ts'
import {
  breakAfter,
  DONE,
  openScriptedServer,
  type ScriptedServer,
  sendError,
  sendJson,
  sendStream,
  toFrame,
} from './testing/scripted-server.ts'

const CHAT = '/openai/v1/chat/completions'
const OK = sendJson(200, { id: 'c', choices: [{ message: { content: 'hi' } }] })

let server: ScriptedServer
let runtime: ManualRuntime
let client: RideauClient
beforeEach(async () => {
  server = await openScriptedServer()
  runtime = createManualRuntime()
  let count = 0
  const tokenSource = fromBackend(async () => `t${++count}`)
  client = new RideauClient({ gatewayUrl: `${server.url}/`, tokenSource }, runtime)
})
afterEach(() => server.close())

describe('the official OpenAI client', () => {
  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }

  test('is authorized by the client token and retried with one Idempotency-Key', async () => {
    server.script(CHAT, breakAfter(), sendError(429, 'rate_limit_exceeded', { 'retry-after': '4' }), OK)
    const openai = new OpenAI(client.openAiOptions())
    const answer = await openai.chat.completions.create(request)
    expect(answer.choices[0]?.message.content).toBe('hi')
    expect(server.countOf(CHAT)).toBe(3)
    expect(runtime.waits).toEqual([375, 4_125])
    expect(new Set(server.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(server.received.every(({ headers }) => headers.authorization === 'Bearer t1')).toBe(true)
  })

  test('throws its own error after the last attempt, with the body of the answer', async () => {
    server.script(CHAT, sendError(503, 'provider_overloaded'))
    const openai = new OpenAI(client.openAiOptions())
    const failure = await openai.chat.completions.create(request).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(OpenAI.APIError)
    expect(failure).toMatchObject({ status: 503, code: 'provider_overloaded' })
    expect(server.countOf(CHAT)).toBe(3)
  })

  test('gets another token once after key_expired', async () => {
    server.script(CHAT, sendError(401, 'key_expired'), OK)
    await new OpenAI(client.openAiOptions()).chat.completions.create(request)
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2'])
  })

  test('streams', async () => {
    server.script(CHAT, sendStream(toFrame({ content: 'a' }), toFrame({ content: 'b' }), DONE))
    const stream = await new OpenAI(client.openAiOptions()).chat.completions.create({
      ...request,
      stream: true,
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('ab')
  })
})

test.each(['https://other.example/v1', 'SERVER.other.example/v1', 'SERVER@other.example/v1', '/v1/models'])(
  'no token leaves for another host: %s',
  async address => {
    await expect(client.fetch(address.replace('SERVER', server.url))).rejects.toMatchObject({
      name: 'RideauError',
    })
    expect(server.received).toEqual([])
  },
)

test('a Request is sent with its method, headers and body, also a second time', async () => {
  server.script('/v1/chat', sendError(503, 'x'), OK)
  const request = new Request(`${server.url}/v1/chat`, {
    method: 'POST',
    headers: { 'x-mine': 'a', 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  await client.fetch(request)
  expect(server.received).toHaveLength(2)
  for (const each of server.received) {
    expect(each).toMatchObject({ method: 'POST', body: '{"a":1}', headers: { 'x-mine': 'a' } })
  }
})

test('a body that is a stream is sent once only', async () => {
  server.script('/v1/chat', sendError(401, 'key_expired'))
  const body = new Blob(['{}']).stream()
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit
  expect((await client.fetch(`${server.url}/v1/chat`, init)).status).toBe(401)
  expect(server.received).toHaveLength(1)
})

test('an aborted call rejects with the reason of its signal and is not tried again', async () => {
  server.script('/v1/chat', () => {})
  const controller = new AbortController()
  const call = client.fetch(`${server.url}/v1/chat`, {
    method: 'POST',
    body: '{}',
    signal: controller.signal,
  })
  await server.waitFor('received', 1)
  controller.abort(new Error('left'))
  await expect(call).rejects.toThrow('left')
  expect(server.countOf('/v1/chat')).toBe(1)
})
