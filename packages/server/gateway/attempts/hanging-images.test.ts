import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const TIMES = { timeoutMs: 3_500, failureMs: 5_000 }
const MODEL = 'gemini/gemini-2.5-flash'
const ANSWER = json(200, {
  candidates: [{ content: { parts: [{ text: 'A cat.' }] }, finishReason: 'STOP' }],
})

let dns: ScriptedDns
let upstream: ScriptedUpstream
let images: ScriptedUpstream
let app: TestApp
let productionKey: string
beforeAll(async () => {
  dns = await openScriptedDns()
  dns.script('hang.test', 'hang')
  dns.script('local.test', { a: ['127.0.0.1'] })
  dns.script('metadata.test', { a: ['169.254.169.254'] })
  upstream = await openScriptedUpstream()
  images = await openScriptedUpstream()
  images.script((res, { path }) => {
    if (path === '/a.png') res.end(PNG)
    else if (path === '/page') res.end('<html>')
    else if (path !== '/silent') res.writeHead(404).end()
  })
  app = await openTestApp(
    {},
    {
      ...TEST_OVERRIDES,
      fetchTimes: TIMES,
      dnsServers: [dns.server],
      callerEgress: { allowPrivate: true, dnsServers: [dns.server] },
    },
  )
  const port = new URL(upstream.origin).port
  const gemini = { api_key: 'k', base_url: `http://gemini.local.test:${port}/v1` }
  await app.addCredential('gemini', gemini)
  await app.addCredential('gemini', gemini, app.productionId)
  await app.addCredential(
    'openai',
    { api_key: 'k', base_url: `http://openai.local.test:${port}/v1` },
    app.productionId,
  )
  productionKey = (await app.createKey({}, app.productionId)).key
})
afterAll(async () => {
  await app.close()
  await Promise.all([dns.close(), upstream.close(), images.close()])
})

const toMessages = (url: string): object[] => [
  { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
]
const ask = (key: string, model: string, messages: unknown): Promise<Response> =>
  app.call('/openai/v1/chat/completions', { model, messages }, { key })

test("fifty hanging image URLs of a client token delay no other tenant's provider and images", async () => {
  const token = await makePlaygroundToken(app)
  const ended: number[] = []
  const hanging = Array.from({ length: 50 }, (_, n) =>
    ask(token, MODEL, toMessages(`https://n${n}.hang.test/a.png`)).then(({ status }) => ended.push(status)),
  )
  // Wait until lookups of the client token hang.
  while (!dns.queries.some(query => query.includes('hang.test'))) {
    await new Promise(resolve => setImmediate(resolve))
  }
  upstream.script(completion('Hello.'))
  const hello = [{ role: 'user', content: 'Hello' }]
  expect((await ask(productionKey, 'openai/gpt-4o-mini', hello)).status).toBe(200)
  upstream.script(ANSWER)
  const port = new URL(images.origin).port
  const image = toMessages(`http://images.local.test:${port}/a.png`)
  expect((await ask(productionKey, MODEL, image)).status).toBe(200)
  expect(ended).toEqual([])
  await Promise.all(hanging)
  expect(new Set(ended)).toEqual(new Set([400]))
  // One end user has eight lookups at a time, for all their attempts.
  expect(new Set(dns.queries.filter(query => query.includes('hang.test A'))).size).toBeLessThanOrEqual(2 * 24)
})

describe('failures to fetch an image', () => {
  let closing: net.Server
  let closedPort: number
  beforeAll(async () => {
    closing = net.createServer(socket => socket.destroy())
    const closed = net.createServer()
    for (const server of [closing, closed]) {
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    }
    closedPort = (closed.address() as AddressInfo).port
    await new Promise(resolve => closed.close(resolve))
  })
  afterAll(() => new Promise(resolve => closing.close(resolve)))

  test('are the same answer at the same time, whatever is at the address', async () => {
    const { port } = closing.address() as AddressInfo
    const urls = [
      `${images.origin}/page`,
      `${images.origin}/nothing`,
      `${images.origin}/silent`,
      `http://127.0.0.1:${port}/closing`,
      `http://127.0.0.1:${closedPort}/refusing`,
      `https://local.test:${port}/no-tls`,
      'http://unknown.test/',
      'http://other.hang.test/',
      'http://metadata.test/',
      'http://169.254.169.254/',
      'http://localhost:1/',
    ]
    const answers: string[] = []
    // This timer began before those of the failures, which end 100 ms after it.
    const before = new Promise(resolve => setTimeout(resolve, TIMES.failureMs - 100))
    const asked = urls.map(async url => {
      const response = await ask(app.secretKey, MODEL, toMessages(url))
      const { error } = (await response.json()) as { error: { code: string; param: string; message: string } }
      answers.push([response.status, error.code, error.param, error.message].join(' '))
    })
    await before
    expect(answers).toEqual([])
    await Promise.all(asked)
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(
      /^400 invalid_request messages\[0\]\.content\[0\]\.image_url\.url .*could not be/,
    )
  })

  test('end with their request: a caller that left keeps no lookup and no connection', async () => {
    const leave = new AbortController()
    const seen = images.requests.length
    const asked = fetch(`${app.gatewayUrl}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages: toMessages(`${images.origin}/silent`) }),
      signal: leave.signal,
    }).catch(() => {})
    while (images.requests.length === seen) await new Promise(resolve => setImmediate(resolve))
    leave.abort()
    await asked
    let isClosed = false
    void images.requests.at(-1)?.closed.then(() => {
      isClosed = true
    })
    // The fetch itself would end after its time limit.
    const limit = new Promise(resolve => setTimeout(resolve, TIMES.timeoutMs - 500))
    await Promise.race([limit, images.requests.at(-1)?.closed])
    expect(isClosed).toBe(true)
  })
})
