import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { openRaw } from '../testing/harness/raw-connection.ts'

let plane: ControlPlane
let tenant: Tenant
let key: string
/** The exceptions that were reported. */
let noted: [message: string, where: string][] = []
/** Replaces the server's id generator; called for each request. */
let makeId: (() => string) | undefined
let baseUrl: (() => string) | undefined
let ready: () => { ready: boolean; reasons: string[] } = () => ({ ready: true, reasons: [] })
let afterWrite: () => Promise<void> = async () => {}

beforeAll(async () => {
  let count = 0
  plane = await openControlPlane(
    {
      onException: (error, where) => void noted.push([(error as Error).message, where]),
      newId: () => makeId?.() ?? `0190b1f2-0000-7000-8000-${(count++).toString(16).padStart(12, '0')}`,
      baseUrl: () => baseUrl?.() ?? plane.url,
      getReadiness: () => ready(),
      afterWrite: () => afterWrite(),
    },
    { bodyTimeoutMs: 60_000, callsPerMinute: 100_000 },
  )
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.admin
})

afterAll(() => plane.close())

afterEach(() => {
  noted = []
  makeId = undefined
  baseUrl = undefined
  ready = () => ({ ready: true, reasons: [] })
  afterWrite = async () => {}
})

const broken = (): never => {
  throw new Error('scripted')
}

async function expectServing(): Promise<void> {
  expect((await plane.call('GET', '/v1/orgs', { key })).outcome).toBe('200')
}

describe('an exception ends one call only:', () => {
  test('on arrival, before the call has an id, it closes the connection', async () => {
    makeId = broken
    await expect(fetch(`${plane.url}/v1/orgs`)).rejects.toThrow()
    makeId = undefined
    await expectServing()
    expect(noted).toEqual([['scripted', 'the arrival of a call']])
  })

  test('in the handler it gives 500 internal_error', async () => {
    ready = broken
    expect((await plane.call('GET', '/readyz')).outcome).toBe('500 internal_error')
    await expectServing()
  })

  test('after the write it gives 500 internal_error', async () => {
    afterWrite = broken
    const path = `/v1/environments/${tenant.development.id}/keys`
    const answer = await plane.call('POST', path, { key, body: { kind: 'secret', name: 'n' } })
    expect(answer.outcome).toBe('500 internal_error')
    await expectServing()
  })

  test('while a fault is rendered it closes the connection', async () => {
    baseUrl = broken
    await expect(fetch(`${plane.url}/v1/nothing`)).rejects.toThrow()
    expect(plane.logged()).toContain('a fault was not answered')
    baseUrl = undefined
    await expectServing()
  })

  test('while a malformed request is answered it closes the connection', async () => {
    makeId = broken
    const raw = await openRaw(plane.url)
    const closed = new Promise(resolve => raw.socket.once('close', resolve))
    raw.socket.write('HELLO\r\n\r\n')
    await closed
    expect(raw.text()).toBe('')
    makeId = undefined
    await expectServing()
    expect(noted).toEqual([['scripted', 'the answer to a broken call']])
  })
})

describe('a malformed request after a call whose response is in progress gets no response', () => {
  test.each([
    ['a malformed request', 'GARBAGE\r\n\r\n'],
    ['a header block over 16 KiB', `GET / HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('%s: the response is complete, and the connection closes', async (_what, more) => {
    let release = (): void => {}
    const writing = new Promise<void>(wrote => {
      afterWrite = () => {
        wrote()
        return new Promise(resolve => {
          release = resolve
        })
      }
    })
    const body = JSON.stringify({ kind: 'secret', name: 'n' })
    const head = [
      `POST /v1/environments/${tenant.development.id}/keys HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const raw = await openRaw(plane.url)
    const closed = new Promise(resolve => raw.socket.once('close', resolve))
    raw.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    await writing
    raw.socket.write(more)
    // Use another connection, so that the server has read what was written before.
    expect((await fetch(`${plane.url}/healthz`)).status).toBe(200)
    raw.socket.write('and more of it')
    release()
    await closed
    expect(raw.text().match(/HTTP\/1\.1/g)).toEqual(['HTTP/1.1'])
    expect(raw.text()).toMatch(/^HTTP\/1\.1 201 [^]*connection: close[^]*"kind":"secret"/i)
    await expectServing()
  })
})

describe('an unusual request', () => {
  test.each(['/v1/orgs', '/healthz', '/v1/nothing'])('HEAD %s has a status and no body', async path => {
    const response = await fetch(plane.url + path, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([expect.any(Number), ''])
  })

  test('a request for a protocol upgrade is served as usual', async () => {
    const raw = await openRaw(plane.url)
    raw.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    expect(await raw.until('"ok"')).toMatch(/^HTTP\/1\.1 200 /)
    raw.socket.destroy()
  })
})

/** Any UTF-16 text, including lone surrogates, control characters and names of Object.prototype. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map(units => String.fromCharCode(...units)),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'valueOf', 'a\r\nb: c', 'x'.repeat(5000)),
)
/** Bytes that an HTTP parser accepts in a header value, and some that it rejects. */
const anyBytes = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0xff }), fc.constant(9)), { maxLength: 60 })
  .map(bytes => Buffer.from(bytes).toString('latin1'))

describe('any text from a caller is answered with a status', () => {
  test('as a field and as a value, with and without a credential', async () => {
    const routes = ['/v1/session', '/v1/setup', `/v1/environments/${tenant.development.id}/keys`, '/v1/orgs']
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes),
        anyText,
        anyText,
        fc.boolean(),
        async (route, name, value, has) => {
          const sent = `{"name":${JSON.stringify(value)},"email":${JSON.stringify(value)},${JSON.stringify(name)}:${JSON.stringify(value)}}`
          const headers = { 'content-type': 'application/json' }
          const answer = await plane.call('POST', route, { raw: sent, headers, ...(has ? { key } : {}) })
          expect(answer.status).toBeGreaterThanOrEqual(200)
          expect(answer.status).not.toBe(500)
        },
      ),
      { numRuns: 500 },
    )
    await expectServing()
  }, 300_000)

  test('in the path, the query and the headers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PATCH'),
        fc.constantFrom('/v1/orgs/', '/v1/keys/', '/v1/logs/', '/v1/session/oidc/', '/'),
        anyBytes.map(text => text.replaceAll(/\s/g, '')),
        fc.record(
          { Origin: anyBytes, 'X-Request-Id': anyBytes, Cookie: anyBytes, 'X-Forwarded-For': anyBytes },
          { requiredKeys: [] },
        ),
        async (method, prefix, rest, headers) => {
          const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
          const raw = await openRaw(plane.url)
          const closed = new Promise(resolve => raw.socket.once('close', resolve))
          const head = `${method} ${prefix}${rest}?cursor=${rest} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`
          raw.socket.write(Buffer.from(`${head}${lines.join('')}Connection: close\r\n\r\n`, 'latin1'))
          await closed
          expect(raw.text()).toMatch(/^HTTP\/1\.1 \d{3} /)
          expect(raw.text()).not.toMatch(/^HTTP\/1\.1 500 /)
        },
      ),
      { numRuns: 500 },
    )
    await expectServing()
    expect(noted).toEqual([])
  }, 300_000)
})

test.each(['BREW /v1/orgs', 'CONNECT x:443'])(
  '%s is answered with 404, and the connection closes',
  async line => {
    const raw = await openRaw(plane.url)
    const closed = new Promise(resolve => raw.socket.once('close', resolve))
    raw.socket.write(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await closed
    expect(raw.text()).toMatch(/^HTTP\/1\.1 404 [^]*"code":"route_not_found"/)
  },
)
