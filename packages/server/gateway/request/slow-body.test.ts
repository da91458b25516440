import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp({}, { bodyTimeoutMs: 500, graceMs: 1_000 })
})

afterAll(async () => {
  await app.close()
})

test.each(['/v1/chat', '/openai/v1/chat/completions'])(
  '%s: rejects a body that arrives too slowly with 408 request_timeout',
  async route => {
    const { socket, until } = await openRaw(app.gatewayUrl)
    socket.write(`POST ${route} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.secretKey}\r\n`)
    socket.write('Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"model":')
    const answer = await until('request_timeout')
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer.toLowerCase()).toContain('x-request-id: ')
    socket.destroy()
    const message = { role: 'user', content: 'hi' }
    expect((await app.call(route, { model: 'sandbox/echo', messages: [message] })).status).toBe(200)
  },
)

test('a body that has arrived takes its time to be unpacked', async () => {
  const hurried = await openTestApp({}, { bodyTimeoutMs: 1, graceMs: 1_000 })
  try {
    const content = 'hi '.repeat(9_000_000)
    const body = gzipSync(JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }] }))
    const { socket, until } = await openRaw(hurried.gatewayUrl)
    const head = [
      'POST /v1/chat HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${hurried.secretKey}`,
      'Content-Type: application/json',
      'Content-Encoding: gzip',
      `Content-Length: ${body.length}`,
    ]
    // One write, so that it is read whole.
    socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
    expect(await until('HTTP/1.1 ')).not.toMatch(/^HTTP\/1\.1 408/)
    socket.destroy()
  } finally {
    await hurried.close()
  }
})
