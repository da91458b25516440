import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  type UpstreamAnswer,
  type UpstreamRequestSeen,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/** The gateway's connections to providers. Of 64 a key gets 9 to one origin, and the end user of a client token 2. */
const CONNECTIONS = '64'
/** More than the share of any caller. */
const MANY = 60
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 }

let limited: LimitedApp
let production: string
const sockets: Socket[] = []

beforeAll(async () => {
  limited = await openLimitedApp({
    RIDEAU_SEND_TIMEOUT_SECONDS: '1',
    RIDEAU_MAX_UPSTREAM_CONNECTIONS: CONNECTIONS,
  })
  const { app, upstream } = limited
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl }, app.productionId)
  production = (await app.createKey({}, app.productionId)).key
})

afterAll(async () => {
  await limited.close()
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await limited.reset()
})

const body = (content: string, fields: object = {}) => ({
  model: PRICED,
  messages: [{ role: 'user', content }],
  ...fields,
})

/** Sends a chat over a connection of its own and reads nothing of the answer. */
async function sendUnread(key: string, request: object, id = crypto.randomUUID()): Promise<string> {
  const { socket } = await openRaw(limited.app.gatewayUrl)
  sockets.push(socket)
  socket.pause()
  const text = JSON.stringify(request)
  socket.write(
    `POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: ${id}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  )
  return id
}

/** A stream without an end, as fast as it is read. */
const endless: UpstreamAnswer = res => {
  const event = chunk({ content: 'x'.repeat(60_000) })
  const write = (): void => {
    while (!res.destroyed && res.write(event)) {}
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.on('drain', write)
  write()
}

interface ScriptedProvider {
  /** Requests of that content that reached the provider and are open. */
  open(content: string): number
  /** Requests of that content that reached the provider. */
  seen(content: string): readonly UpstreamRequestSeen[]
}

/** Streams to 'unread', never answers 'silent', and answers all others at once. */
function script(): ScriptedProvider {
  const from = limited.upstream.requests.length
  const closed = new Set<UpstreamRequestSeen>()
  limited.upstream.script((res, seen) => {
    void seen.closed.then(() => closed.add(seen))
    if (seen.text.includes('unread')) return endless(res, seen)
    if (!seen.text.includes('silent')) return completion('at once')(res, seen)
  })
  const seen = (content: string): readonly UpstreamRequestSeen[] =>
    limited.upstream.requests.slice(from).filter(({ text }) => text.includes(content))
  return { seen, open: content => seen(content).filter(each => !closed.has(each)).length }
}

async function ask(key: string, fields: object = {}, headers: Record<string, string> = {}) {
  const response = await limited.app.call('/v1/chat', body('hello', fields), { key, headers })
  const answer = (await response.json()) as { error?: { code: string } }
  return { status: response.status, code: answer.error?.code, headers: response.headers }
}

describe('with many silent streams of one key and of one client token', () => {
  test('other environments, keys and end users are served, and each gets its share', async () => {
    const { app } = limited
    const provider = script()
    const token = await makePlaygroundToken(app)
    for (let at = 0; at < MANY; at++) await sendUnread(app.secretKey, body('silent key', { stream: true }))
    await expect.poll(() => provider.open('silent key'), SOON).toBe(9)
    for (let at = 0; at < MANY; at++) await sendUnread(token, body('silent token', { stream: true }))
    await expect
      .poll(() => [provider.open('silent key'), provider.open('silent token')], SOON)
      .toEqual([9, 2])
    const other = (await app.createKey({})).key
    expect(await ask(production)).toMatchObject({ status: 200 })
    expect(await ask(other)).toMatchObject({ status: 200 })
    expect(await ask(app.secretKey, {}, { 'x-rideau-end-user': 'another' })).toMatchObject({ status: 200 })
    // None of those that were open had ended by then.
    expect([provider.seen('silent key').length, provider.seen('silent token').length]).toEqual([9, 2])
  })

  test('a call of theirs that gets no connection in its time is an overload, free, and may fall back', async () => {
    const { app } = limited
    script()
    for (let at = 0; at < MANY; at++) await sendUnread(app.secretKey, body('silent', { stream: true }))
    const late = await ask(app.secretKey, { timeout_ms: 1000 })
    expect(late).toMatchObject({ status: 503, code: 'provider_overloaded' })
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
    const log = await app.findLog(late.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ cost_usd: 0, usage: { input_tokens: 0, output_tokens: 0 } })
    expect(log.attempts).toMatchObject([{ error: 'overloaded', status: null }])
    const targets = [{ model: PRICED, timeout_ms: 1000 }, { model: 'sandbox/echo' }]
    await limited.make(`/v1/environments/${app.developmentId}/model-aliases`, {
      alias: 'either',
      strategy: 'priority',
      targets,
    })
    const fallen = await ask(app.secretKey, { model: 'either' })
    expect([fallen.status, fallen.headers.get('x-rideau-model')]).toEqual([200, 'sandbox/echo'])
  })
})

test('ends streams whose callers do not read, bills what was delivered, and lends their connections to waiting calls', async () => {
  const { app } = limited
  const provider = script()
  const { key, budget } = await limited.freshKey(1_000_000)
  const ids: string[] = []
  for (let at = 0; at < 11; at++) ids.push(await sendUnread(key, body('unread', { stream: true })))
  expect(await ask(production)).toMatchObject({ status: 200 })
  // The two above the share of nine waited, and were streamed to afterwards.
  await expect.poll(() => [provider.seen('unread').length, provider.open('unread')], SOON).toEqual([11, 0])
  const logs = await Promise.all(ids.map(id => app.findLog(id)))
  for (const log of logs) {
    expect(log).toMatchObject({ error_code: 'request_canceled', usage_estimated: true })
    expect(log.usage.output_tokens).toBeGreaterThan(0)
  }
  const cost = logs.reduce((sum, log) => sum + Math.round(log.cost_usd * 1e9), 0) / 1e9
  expect(await budget()).toMatchObject({ spent_usd: cost, reserved_usd: 0 })
})

async function countEnded(): Promise<number> {
  const text = await (await fetch(`${limited.app.metricsUrl}/metrics`)).text()
  return Number(/^rideau_send_timeouts_total (\d+)$/m.exec(text)?.[1])
}

test('ends a caller that does not read a plain answer, which is billed in full', async () => {
  const { app, upstream } = limited
  const before = await countEnded()
  upstream.script(completion('x'.repeat(24 * 1024 * 1024)))
  const log = await app.findLog(await sendUnread(app.secretKey, body('long')))
  expect(log).toMatchObject({ status: 200, usage: { input_tokens: 12, output_tokens: 3 } })
  await expect.poll(countEnded, SOON).toBe(before + 1)
})

test('ends a caller of the control plane that does not read', async () => {
  const before = await countEnded()
  const { socket } = await openRaw(limited.app.controlUrl)
  sockets.push(socket)
  socket.pause()
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(60))
  await expect.poll(countEnded, SOON).toBe(before + 1)
})

test('closes the connection of a provider that does not end its answer after [DONE]', async () => {
  const { app, upstream } = limited
  upstream.script(res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ content: 'all' }) + chunk({}, 'stop') + usageChunk() + DONE)
  })
  const answer = await app.call('/v1/chat', body('hello', { stream: true }))
  expect(await answer.text()).toContain('[DONE]')
  await upstream.requests.at(-1)?.closed
  const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
  expect(log).toMatchObject({ status: 200, usage: { input_tokens: 12, output_tokens: 3 } })
})

test('ends a stream that falls silent, and closes its connection', async () => {
  const { app, upstream } = limited
  upstream.script(res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ content: 'begun' }))
  })
  const answer = await app.call('/v1/chat', body('hello', { stream: true, timeout_ms: 1000 }))
  expect(await answer.text()).toContain('"code":"timeout"')
  await upstream.requests.at(-1)?.closed
})
