import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  app = await openTestApp()
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
})

afterAll(async () => {
  await app.close()
  await upstream.close()
})

function request(stream: boolean, headers: string[] = []): string {
  const body = JSON.stringify({ model: 'custom/m', stream, messages: [{ role: 'user', content: 'hi' }] })
  const head = [
    'POST /v1/chat HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${app.secretKey}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...headers,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** A provider that answers in two parts: the first at once, the second on demand. */
function inTwoParts(begin: UpstreamAnswer, end: UpstreamAnswer): { called: Promise<void>; release(): void } {
  let called = (): void => {}
  let release = (): void => {}
  const calling = new Promise<void>(resolve => {
    called = resolve
  })
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  upstream.script(async (res, seen) => {
    await begin(res, seen)
    called()
    await released
    await end(res, seen)
  })
  return { called: calling, release: () => release() }
}

/**
 * Writes `more` on the connection of a request that is being answered. Returns all bytes until the connection closed.
 */
async function sendBehind(stream: boolean, more: string): Promise<string> {
  const { called, release } = stream
    ? inTwoParts(
        res => {
          res.writeHead(200, { 'content-type': 'text/event-stream' })
          res.write(chunk({ content: 'first' }))
        },
        res => void res.end(chunk({ content: 'last' }) + chunk({}, 'stop') + usageChunk() + DONE),
      )
    : inTwoParts(() => {}, completion('the whole answer'))
  const raw = await openRaw(app.gatewayUrl)
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  raw.socket.write(request(stream))
  await called
  if (stream) await raw.until('first')
  raw.socket.write(more)
  // Answered on another connection, so that the gateway has read the earlier bytes.
  expect((await fetch(`${app.gatewayUrl}/healthz`)).status).toBe(200)
  raw.socket.write('and more of it')
  release()
  await closed
  return raw.text()
}

const BROKEN = [
  ['what is no request', 'GARBAGE\r\n\r\n'],
  ['a method that Node does not know', 'BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['the method CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a header that is none', 'GET /healthz HTTP/1.1\r\nno colon here\r\n\r\n'],
  ['a header block over 16 KiB', `GET /healthz HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['two lengths', 'POST /v1/chat HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
] as const

describe('does not answer a broken request behind one that is being answered:', () => {
  test.each(BROKEN)(
    '%s, behind a stream, which is completed before the connection closes',
    async (_what, more) => {
      const text = await sendBehind(true, more)
      expect(text.match(/HTTP\/1\.1/g)).toEqual(['HTTP/1.1'])
      expect(text).toMatch(/^HTTP\/1\.1 200 [^]*first[^]*last[^]*\[DONE\]/)
    },
  )

  test.each(BROKEN)(
    '%s, behind a plain answer, which is completed with "Connection: close"',
    async (_what, more) => {
      const text = await sendBehind(false, more)
      expect(text.match(/HTTP\/1\.1/g)).toEqual(['HTTP/1.1'])
      expect(text).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*the whole answer/i)
    },
  )

  test('completes a stream before it refuses the broken body of a request behind it', async () => {
    const head = `POST /v1/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.secretKey}\r\n`
    const type = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const text = await sendBehind(true, `${head}${type}no length\r\n`)
    expect(text).toMatch(
      /^HTTP\/1\.1 200 [^]*first[^]*last[^]*\[DONE\][^]*HTTP\/1\.1 400 [^]*connection: close/i,
    )
    expect(text).toContain('not a well-formed HTTP request')
  })

  test('answers two complete requests before a broken one', async () => {
    const { called, release } = inTwoParts(() => {}, completion('the whole answer'))
    const raw = await openRaw(app.gatewayUrl)
    const closed = new Promise(resolve => raw.socket.once('close', resolve))
    raw.socket.write(`${request(false)}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n`)
    await called
    release()
    await closed
    expect(raw.text()).toMatch(/^HTTP\/1\.1 200 [^]*the whole answer[^]*HTTP\/1\.1 200 [^]*"ok"[^}]*}$/)
  })
})

test('answers a request whose own body is broken with an error', async () => {
  const raw = await openRaw(app.gatewayUrl)
  const head = `POST /anthropic/v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${app.secretKey}\r\n`
  raw.socket.write(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n`)
  const text = await raw.until('request_validation_failed')
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
  expect(text).toContain('"type":"error"')
})

test('answers a broken request behind a complete answer with an error', async () => {
  const raw = await openRaw(app.gatewayUrl)
  raw.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await raw.until('"ok"')
  raw.socket.write('GARBAGE\r\n\r\n')
  expect(await raw.until('request_validation_failed')).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 /)
})

test.each(['OPTIONS *', 'GET *', 'GET http://x/healthz', 'GET http://[::1'])(
  'answers a target that is no path with 404, without an exception: %s',
  async target => {
    const raw = await openRaw(app.gatewayUrl)
    raw.socket.write(`${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect(await raw.until('route_not_found')).toMatch(/^HTTP\/1\.1 404 /)
    raw.socket.destroy()
  },
)

test('a broken request in one packet behind a whole one is not taken for one with another method', async () => {
  const raw = await openRaw(app.gatewayUrl)
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  raw.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n')
  await closed
  expect(raw.text()).not.toContain('route_not_found')
})

test.each([
  ['a method that Node does not know', 'BREW /anthropic/v1/messages HTTP/1.1', '"type":"error"'],
  ['the method CONNECT', 'CONNECT x:443 HTTP/1.1', '"doc_url"'],
])('answers %s with 404, and closes the connection', async (_what, line, envelope) => {
  const raw = await openRaw(app.gatewayUrl)
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  raw.socket.write(`${line}\r\nHost: x\r\n\r\n`)
  await closed
  expect(raw.text()).toMatch(/^HTTP\/1\.1 404 [^]*"code":"route_not_found"/)
  expect(raw.text()).toContain(envelope)
})

test.each<[string, () => string, string]>([
  ['of a chat', () => app.gatewayUrl, 'POST /v1/chat'],
  ['of a route without a body', () => app.gatewayUrl, 'GET /v1/models'],
  ['of the control plane', () => app.controlUrl, 'POST /v1/setup'],
])('a body that is given up %s gets one answer, and the connection closes', async (_, url, line) => {
  const raw = await openRaw(url())
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  const head = `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  raw.socket.write(`${head}${'1\r\nx\r\n'.repeat(3_000)}0\r\n\r\n`)
  await closed
  expect(raw.text().match(/HTTP\/1\.1 \d+/g)).toHaveLength(1)
  expect(raw.text().toLowerCase()).toContain('connection: close')
})

const GATEWAY: [string, () => string] = ['the gateway', () => app.gatewayUrl]
const CONTROL: [string, () => string] = ['the control plane', () => app.controlUrl]

/** Sends a request with a body of `count` chunks of a byte, then `end`. Returns the answers once the connection closed. */
async function sendTiny(url: string, line: string, count: number, end: string): Promise<string> {
  const raw = await openRaw(url)
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  raw.socket.write(`${line} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
  raw.socket.write(`${'1\r\nx\r\n'.repeat(count)}${end}`)
  await closed
  return raw.text()
}

describe.each([GATEWAY, CONTROL])('of a request to %s with a body that nobody reads', (_, url) => {
  test.each([
    ['is given up', 3_000, '0\r\n\r\n'],
    ['is not read on', 300, ''],
  ])('the answer closes the connection if the body %s', async (_, count, end) => {
    const text = await sendTiny(url(), 'GET /healthz', count, end)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    expect(text).toMatch(/^connection: close\r$/im)
  })

  test.each([
    ['is given up', 3_000, '0\r\n\r\n'],
    ['is not read on', 300, ''],
  ])('the answer to HEAD is a head if the body %s', async (_, count, end) => {
    const text = await sendTiny(url(), 'HEAD /nope', count, end)
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d [^]*\r\n\r\n$/)
    expect(text.match(/\r\n\r\n/g)).toHaveLength(1)
    expect(text).toMatch(/^connection: close\r$/im)
  })
})

test('a refused HEAD has its answer before the rest of its body has come', async () => {
  const raw = await openRaw(app.gatewayUrl)
  raw.socket.write('HEAD /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n')
  await raw.until('\r\n\r\n')
  expect((await fetch(`${app.gatewayUrl}/healthz`)).status).toBe(200)
  // The rest is still read.
  expect(raw.socket.readableEnded).toBe(false)
  raw.socket.destroy()
})
