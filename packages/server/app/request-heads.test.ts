import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'
import { openRaw } from '../testing/harness/raw-connection.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp()
})

afterAll(() => app.close())

const UUID = /^x-request-id: [0-9a-f-]{36}$/im

/** Sends bytes and returns everything that was received until the connection closed. */
async function exchange(url: string, bytes: string): Promise<string> {
  const raw = await openRaw(url)
  const closed = new Promise(resolve => raw.socket.once('close', resolve))
  raw.socket.write(bytes)
  await closed
  return raw.text()
}

/** Returns the status, code and param of an answer, and asserts that its id stands in both places. */
function outcomeOf(text: string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(head).toMatch(UUID)
  const { error } = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))
  expect(head.toLowerCase()).toContain(`x-request-id: ${error.request_id}`)
  expect(error.doc_url).toContain(`/docs/errors#${error.code}`)
  return `${head.split(' ')[1]} ${error.code} ${error.param}`
}

describe.each(['gateway', 'control plane'])('on the %s', host => {
  const url = (): string => (host === 'gateway' ? app.gatewayUrl : app.controlUrl)
  const path = host === 'gateway' ? '/v1/models' : '/v1/orgs'
  const key = (): string => (host === 'gateway' ? app.secretKey : app.managementKey)

  test.each([
    ['GET', ''],
    ['POST', 'Content-Length: 2\r\n\r\n{}'],
    ['OPTIONS', ''],
  ])(
    'answers %s of HTTP/1.1 without Host with an envelope and closes the connection',
    async (method, rest) => {
      const text = await exchange(
        url(),
        `${method} ${path} HTTP/1.1\r\nAuthorization: Bearer ${key()}\r\n${rest === '' ? '\r\n' : rest}`,
      )
      expect(outcomeOf(text)).toBe('400 request_validation_failed Host')
      expect(text).toMatch(/^connection: close$/im)
    },
  )

  test.each([
    ['different', 'Host: x\r\nHost: y'],
    ['equal', 'Host: x\r\nhost: x'],
    ['2,500 headers apart', `Host: x\r\n${'a:\r\n'.repeat(2_500)}Host: y`],
  ])('answers two hosts with an envelope and closes the connection: %s', async (_, hosts) => {
    const text = await exchange(
      url(),
      `GET ${path} HTTP/1.1\r\n${hosts}\r\nAuthorization: Bearer ${key()}\r\n\r\n`,
    )
    expect(outcomeOf(text)).toBe('400 request_validation_failed Host')
    expect(text).toMatch(/^connection: close$/im)
  })

  test.each(['1.1 gzip, chunked', '1.1 identity, chunked', '1.0 chunked'])(
    'answers a transfer coding that it does not read with an envelope and closes the connection: HTTP/%s',
    async each => {
      const [version, ...codings] = each.split(' ')
      const text = await exchange(
        url(),
        `POST ${path} HTTP/${version}\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: ${codings.join(' ')}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      )
      expect(outcomeOf(text)).toBe('400 request_validation_failed Transfer-Encoding')
      expect(text).toMatch(/^connection: close$/im)
    },
  )

  test('answers an unknown expectation with an envelope and closes the connection', async () => {
    const text = await exchange(
      url(),
      `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(outcomeOf(text)).toBe('400 request_validation_failed Expect')
    expect(text).toMatch(/^connection: close$/im)
  })

  test('keeps the request id that the caller sent', async () => {
    const id = '0190a000-0000-7000-8000-000000000001'
    const text = await exchange(url(), `GET ${path} HTTP/1.1\r\nX-Request-Id: ${id}\r\n\r\n`)
    expect(text).toContain(id)
  })

  test('answers a request without Host behind a complete one in its turn', async () => {
    const text = await exchange(url(), `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET ${path} HTTP/1.1\r\n\r\n`)
    const second = text.indexOf('HTTP/1.1 400')
    expect(text.slice(0, second)).toMatch(/^HTTP\/1.1 200 /)
    expect(outcomeOf(text.slice(second))).toBe('400 request_validation_failed Host')
  })

  test('answers a malformed request behind a complete one with an envelope', async () => {
    const text = await exchange(url(), `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nnot HTTP at all\r\n\r\n`)
    const second = text.indexOf('HTTP/1.1 400')
    if (second >= 0) expect(outcomeOf(text.slice(second))).toBe('400 request_validation_failed null')
    expect(text).toMatch(/^HTTP\/1.1 (200|400) /)
  })

  test.each([
    ['HTTP/1.0 without Host', 'HTTP/1.0\r\n'],
    ['HTTP/1.0 with an expectation', 'HTTP/1.0\r\nExpect: anything\r\n'],
    ['an empty Host', 'HTTP/1.1\r\nHost:\r\nConnection: close\r\n'],
  ])('serves %s', async (_, rest) => {
    const text = await exchange(url(), `GET ${path} ${rest}Authorization: Bearer ${key()}\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1.1 200 /)
    expect(text).toMatch(UUID)
  })

  test('answers 17 of 2,400 requests that arrive at once, in order, and closes the connection', async () => {
    const id = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
    const many = Array.from({ length: 2_400 }, (_, at) => {
      return `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id(at)}\r\n\r\n`
    })
    const answered = (await exchange(url(), many.join(''))).match(/(?<=^x-request-id: ).*/gim)
    expect(answered).toEqual(Array.from({ length: 17 }, (_, at) => id(at)))
  })

  test('asks for the body of a request that expects 100-continue', async () => {
    const raw = await openRaw(url())
    raw.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`,
    )
    await raw.until('HTTP/1.1 100 Continue')
    raw.socket.write('{}')
    await raw.until('request_id')
    raw.socket.destroy()
  })
})

test('answers a request without Host under a compat prefix in the shape of its surface', async () => {
  const text = await exchange(app.gatewayUrl, 'POST /anthropic/v1/messages HTTP/1.1\r\n\r\n')
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(head).toMatch(UUID)
  expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { code: 'request_validation_failed' } })
})
