import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { collectGarbage } from '@rideau/llm/testing/collect-garbage'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** What an open stream keeps of its request. Caller and provider run here too and keep nothing of it. */

const STREAMS = 40
const BODY_BYTES = 1024 * 1024
/** The memory for all bodies at once: less than all streams' requests together. */
const BODIES_BYTES = 32 * BODY_BYTES
/** The memory for the log's record, in environments that capture bodies. */
const CAPTURED_BYTES = 128 * 1024

let app: TestApp
let provider: http.Server
const streams = new Set<http.ServerResponse>()
const delta = (content: string): string =>
  `data: ${JSON.stringify({ id: 'a', model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`

beforeAll(async () => {
  provider = http.createServer((req, res) => {
    req.resume()
    req.on('end', () => {
      if (req.method === 'GET') return void res.writeHead(404).end()
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(delta('hello'))
      streams.add(res)
    })
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  app = await openTestApp({ RIDEAU_BODY_BYTES: String(BODIES_BYTES) })
  const { port } = provider.address() as AddressInfo
  const credential = { api_key: 'k', base_url: `http://127.0.0.1:${port}/v1` }
  await app.addCredential('custom', credential)
  await app.addCredential('custom', credential, app.productionId)
})
afterAll(async () => {
  await app.close()
  provider.closeAllConnections()
  provider.close()
})

/** Returns the bytes of memory in use, once nothing more can be collected. */
async function used(): Promise<number> {
  for (let left = 5; left > 0; left--) {
    collectGarbage()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  // Long strings are external; so are buffers.
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Opens a stream. Resolves at its first event with what ends it. */
function openStream(request: Buffer): Promise<() => Promise<void>> {
  const { hostname, port } = new URL(app.gatewayUrl)
  const socket = net.connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  return new Promise((resolve, reject) => {
    socket.on('data', part => {
      if (part.includes('HTTP/1.1 4')) reject(new Error(String(part)))
      if (!part.includes('hello')) return
      resolve(() => {
        socket.destroy()
        return closed
      })
    })
    socket.write(request)
  })
}

function toRequest(key: string, path: string, body: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(body))
  const lines = [`POST ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`]
  const head = `${lines.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

const CONTENT = 'word '.repeat(BODY_BYTES / 5)
const messages = [{ role: 'user', content: CONTENT }]
const chat = { model: 'custom/m', stream: true, messages }

/** Opens streams of a key that captures nothing and of one that captures bodies, and measures what each keeps. */
async function expectNothingKept(path: string, body: object): Promise<void> {
  const { key } = await app.createKey({}, app.productionId)
  for (const [credential, maxBytes] of [
    [key, 0],
    [app.secretKey, CAPTURED_BYTES],
  ] as const) {
    const request = toRequest(credential, path, body)
    const ends = [await openStream(request)]
    const before = await used()
    for (let left = STREAMS; left > 0; left--) ends.push(await openStream(request))
    const perStream = ((await used()) - before) / STREAMS
    // Of the three parties' connections together; one copy of the content would be 8 times that.
    expect(perStream).toBeLessThan(maxBytes + BODY_BYTES / 8)
    for (const end of ends) await end()
  }
}

const hi = [{ role: 'user', content: 'hi' }]

test.each([
  ['that passes through', '/openai/v1/chat/completions', chat],
  ['that is translated', '/anthropic/v1/messages', { ...chat, max_tokens: 10 }],
  ['in the native format', '/v1/chat', chat],
  [
    'with a long user for the log',
    '/anthropic/v1/messages',
    { ...chat, messages: hi, max_tokens: 10, metadata: { user_id: CONTENT } },
  ],
])('nothing of a request %s, but what the log captures', (_, path, body) => expectNothingKept(path, body))

test('nothing of a request under a limit of tokens, but what the log captures', async () => {
  const made = await Promise.all(
    [app.productionId, app.developmentId].map(id =>
      app.manage('POST', `/v1/environments/${id}/limits`, {
        ...{ scope: 'environment', metric: 'tokens', limit: 1e12, window_seconds: 60 },
      }),
    ),
  )
  expect(made.map(({ status }) => status)).toEqual([201, 201])
  await expectNothingKept('/openai/v1/chat/completions', chat)
})

test('logs a captured body up to the limit after its content was dropped', async () => {
  const end = await openStream(toRequest(app.secretKey, '/openai/v1/chat/completions', chat))
  const last = [...streams].at(-1) as http.ServerResponse
  last.end(
    `data: {"id":"a","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
  )
  const readBody = async (): Promise<string | undefined> => {
    const query = 'select request_body as body from request_logs where status = 200 order by at desc limit 1'
    return (await app.database.pool.query(query)).rows[0]?.body
  }
  await expect
    .poll(readBody, { timeout: 10_000 })
    .toMatch(/^\{"model":"custom\/m","stream":true,.*…\[cut: \d+ characters\]$/)
  await end()
})

/** Opens streams until one is refused, at most `count`. Returns how many were opened, and ends them. */
async function countOpened(request: Buffer, count: number): Promise<number> {
  const ends: (() => Promise<void>)[] = []
  try {
    while (ends.length < count) ends.push(await openStream(request))
  } catch (error) {
    expect(String(error)).toContain('concurrency_limit_exceeded')
  }
  for (const end of ends) await end()
  return ends.length
}

test('what an answer repeats of its request counts until its end', async () => {
  const { key } = await app.createKey({}, app.productionId)
  const body = { model: 'custom/m', stream: true, input: 'x', instructions: CONTENT }
  expect(await countOpened(toRequest(key, '/openai/v1/responses', body), STREAMS)).toBeLessThan(32)
})

test('the names of fields that were left out count until its end', async () => {
  await app.manage('PATCH', `/v1/environments/${app.productionId}`, { unsupported_params: 'drop' })
  const { key } = await app.createKey({}, app.productionId)
  const names = Array.from({ length: 64 }, (_, at) => [`${at}${'x'.repeat(16_000)}`, 1])
  const body = { model: 'custom/m', stream: true, max_tokens: 10, messages: hi, ...Object.fromEntries(names) }
  expect(await countOpened(toRequest(key, '/anthropic/v1/messages', body), STREAMS)).toBeLessThan(32)
})

test('a few short names of fields that were left out keep nothing else of a body', async () => {
  const { key } = await app.createKey({}, app.productionId)
  const marked = [
    { role: 'user', content: [{ type: 'text', text: CONTENT, cache_control: { type: 'ephemeral' } }] },
  ]
  const body = {
    ...{ model: 'custom/m', stream: true, max_tokens: 10, messages: marked },
    metadata: { user_id: 'u' },
  }
  expect(await countOpened(toRequest(key, '/anthropic/v1/messages', body), STREAMS)).toBe(STREAMS)
})

test('a body that its provider does not read counts until its end', async () => {
  const sockets = new Set<net.Socket>()
  const unread = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.pause()
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${delta('hello')}`)
    })
  })
  await new Promise<void>(resolve => unread.listen(0, '127.0.0.1', resolve))
  const { port } = unread.address() as AddressInfo
  const credential = { api_key: 'k', base_url: `http://127.0.0.1:${port}/v1` }
  await app.addCredential('custom-unread', credential, app.productionId)
  const { key } = await app.createKey({}, app.productionId)
  const long = [{ role: 'user', content: CONTENT.repeat(8) }]
  const request = toRequest(key, '/openai/v1/chat/completions', {
    ...{ model: 'custom-unread/m', stream: true, messages: long },
  })
  expect(await countOpened(request, 8)).toBeLessThan(5)
  unread.close()
  for (const socket of sockets) socket.destroy()
})
