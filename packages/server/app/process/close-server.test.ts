import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let provider: ScriptedUpstream
const MESSAGES = [{ role: 'user', content: 'hi' }]

beforeEach(async () => {
  provider = await openScriptedUpstream()
  app = await openTestApp({}, { bodyTimeoutMs: 60_000, graceMs: 50 })
  await app.addCredential('custom', { api_key: 'k', base_url: provider.baseUrl })
})
afterEach(async () => {
  await app.close()
  await provider.close()
})

/** Returns a text that the provider has sent the whole of when it resolves, and then nothing more. */
function answerAndHang(text: string): Promise<void> {
  return new Promise(resolve => {
    provider.script(res => {
      res.writeHead(200, {
        'content-type': text.startsWith('data:') ? 'text/event-stream' : 'application/json',
      })
      res.write(text, () => resolve())
    })
  })
}

async function readErrorCode(requestId: string | null): Promise<unknown> {
  const sql = 'select error_code from request_logs where request_id = $1'
  const { rows } = await app.database.pool.query(sql, [requestId])
  return rows[0]?.error_code
}

test('a stream that outlasts the grace ends with an error frame, and its record is written before the app is closed', async () => {
  const delta = { role: 'assistant', content: 'first' }
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
  }
  const sent = answerAndHang(`data: ${JSON.stringify(chunk)}\n\n`)
  const response = await app.call('/openai/v1/chat/completions', {
    model: 'custom/m',
    stream: true,
    messages: MESSAGES,
  })
  await sent
  const text = response.text()
  await app.stop()
  expect(await text).toMatch(/first[^]*stream_interrupted/)
  expect(await readErrorCode(response.headers.get('x-request-id'))).toBe('stream_interrupted')
})

test('a plain request that outlasts the grace is answered with 502 stream_interrupted', async () => {
  const sent = answerAndHang('{"choices":')
  const answering = app.call('/v1/chat', { model: 'custom/m', messages: MESSAGES })
  await sent
  await app.stop()
  const response = await answering
  expect([response.status, await response.json()]).toMatchObject([
    502,
    { error: { code: 'stream_interrupted' } },
  ])
  expect(await readErrorCode(response.headers.get('x-request-id'))).toBe('stream_interrupted')
})

test('callers that never send their request do not keep the app from closing', async () => {
  const silent = [app.gatewayUrl, app.controlUrl].map(url => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {}).resume()
    socket.write(
      'POST /v1/setup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    )
    return socket
  })
  const closed = silent.map(socket => new Promise(resolve => socket.once('close', resolve)))
  await Promise.all(silent.map(socket => new Promise(resolve => socket.once('connect', resolve))))
  await app.stop()
  await Promise.all(closed)
})
