import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { ErrorEnvelope } from '@rideau/llm/formats/shared/errors/error-envelope'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const BODY_LIMIT = 10 * 1024 * 1024

let plane: ControlPlane
let tenant: Tenant
let key: string
let keysPath: string
beforeAll(async () => {
  plane = await openControlPlane({}, { bodyTimeoutMs: 300 })
  tenant = await plane.insertTenant('acme')
  key = tenant.keys.admin
  keysPath = `/v1/environments/${tenant.development.id}/keys`
})
afterAll(() => plane.close())

const valid = { kind: 'secret', name: 'n' }

function post(raw: string | Buffer, headers: Record<string, string> = {}) {
  return plane.call('POST', keysPath, {
    key,
    raw,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** Sends bytes that no HTTP client would send, and returns everything received until the connection ends. */
function sendRaw(bytes: string | Buffer, port = plane.port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

/** Returns status, code and X-Request-Id of a raw response, and asserts that its error envelope is complete. */
function parseRaw(text: string): { outcome: string; requestId: string } {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const envelope = JSON.parse(body) as ErrorEnvelope
  const requestId = /^x-request-id: (.*)$/im.exec(head)?.[1] ?? ''
  expect(envelope.error.request_id).toBe(requestId)
  expect(head).toMatch(/^content-type: application\/json/im)
  return { outcome: `${head.split(' ')[1]} ${envelope.error.code}`, requestId }
}

describe('every failure', () => {
  test('uses the error envelope, with the id of its X-Request-Id and a link to its code', async () => {
    const { status, json, headers } = await plane.call<ErrorEnvelope>('GET', '/v1/nothing')
    expect(status).toBe(404)
    expect(headers.get('x-request-id')).toMatch(UUID)
    expect(json).toEqual({
      error: {
        type: 'not_found_error',
        code: 'route_not_found',
        message: expect.any(String),
        param: null,
        request_id: headers.get('x-request-id'),
        doc_url: `${plane.url}/docs/errors#route_not_found`,
      },
    })
  })

  test('uses the request id of the caller if it is a UUID, and no other text', async () => {
    const chosen = '0190b1f2-0000-4000-8000-000000000001'
    const taken = await plane.call('GET', '/v1/orgs', { headers: { 'x-request-id': chosen } })
    expect(taken.headers.get('x-request-id')).toBe(chosen)
    const refused = await plane.call('GET', '/v1/orgs', { headers: { 'x-request-id': 'chosen' } })
    expect(refused.headers.get('x-request-id')).toMatch(UUID)
  })

  test('hides the cause of a 500, which is logged', async () => {
    const broken = await openControlPlane({
      afterWrite: () => Promise.reject(new Error('the gateway at 10.1.2.3 is gone')),
    })
    try {
      const there = await broken.insertTenant('acme')
      const path = `/v1/environments/${there.development.id}/keys`
      const answer = await broken.call('POST', path, { key: there.keys.admin, body: valid })
      expect(answer.outcome).toBe('500 internal_error')
      expect(answer.text).not.toContain('10.1.2.3')
      expect(broken.logged()).toContain('10.1.2.3')
      expect(broken.logged()).toContain(answer.headers.get('x-request-id'))
    } finally {
      await broken.close()
    }
  })
})

describe('route', () => {
  test.each([
    ['GET', '/v1/nothing'],
    ['GET', '/'],
    ['PUT', '/v1/orgs'],
    ['PUT', '/v1/setup'],
    ['GET', '/v1/setup'],
    ['OPTIONS', '/v1/orgs'],
    ['GET', '/v1/orgs/'],
    ['GET', '/V1/orgs'],
    ['GET', '/v1/environments//keys/x'],
  ])('404 route_not_found: %s %s', async (method, path) => {
    expect((await plane.call(method, path, { key })).outcome).toBe('404 route_not_found')
  })

  test('answers 404 before it validates the body', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await plane.call('POST', '/v1/nothing', { raw: '{', headers })).outcome).toBe(
      '404 route_not_found',
    )
  })

  test('answers 400 request_validation_failed for a path that cannot be decoded', async () => {
    expect((await plane.call('GET', '/v1/orgs/%zz', { key })).outcome).toBe('400 request_validation_failed')
  })
})

describe('body', () => {
  test.each([
    ['malformed', '{"kind":', '400 request_validation_failed'],
    ['cut in a string', '{"kind":"sec', '400 request_validation_failed'],
    ['two documents', '{}{}', '400 request_validation_failed'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), '400 request_validation_failed'],
    ['a duplicate key', '{"kind":"secret","name":"a","name":"b"}', '400 request_validation_failed name'],
    [
      'a duplicate nested key, written in two ways',
      '{"kind":"secret","name":"n","restrictions":{"allowed_models":[],"allowed\\u005fmodels":[]}}',
      '400 request_validation_failed allowed_models',
    ],
    ['depth 65', `${'['.repeat(65)}${']'.repeat(65)}`, '400 request_validation_failed'],
    ['not an object', '[]', '400 invalid_request'],
    ['null', 'null', '400 invalid_request'],
    ['an empty body', '', '400 invalid_request'],
    ['an unknown field', '{"kind":"secret","name":"n","nmae":"x"}', '400 invalid_request nmae'],
    [
      '__proto__',
      '{"kind":"secret","name":"n","__proto__":{"role":"admin"}}',
      '400 request_validation_failed __proto__',
    ],
    [
      'a nested __proto__, written with an escape',
      '{"kind":"secret","name":"n","restrictions":{"\\u005f_proto__":{"role":"admin"}}}',
      '400 request_validation_failed __proto__',
    ],
  ])('%s', async (_, raw, outcome) => {
    expect((await post(raw)).outcome).toBe(outcome)
  })

  test('answers 413 for a body over 10 MiB, and keeps the connection open', async () => {
    const big = JSON.stringify({ ...valid, name: 'x'.repeat(BODY_LIMIT) })
    expect((await post(big)).outcome).toBe('413 request_too_large')
    expect((await post(JSON.stringify(valid))).outcome).toBe('201')
  })

  test('answers 413 for a small gzip that unpacks to more than 10 MiB', async () => {
    const bomb = gzipSync(Buffer.alloc(BODY_LIMIT + 1, 0x20))
    expect((await post(bomb, { 'content-encoding': 'gzip' })).outcome).toBe('413 request_too_large')
  })

  test('accepts gzip, and rejects invalid gzip and other encodings', async () => {
    const packed = gzipSync(JSON.stringify(valid))
    expect((await post(packed, { 'content-encoding': 'gzip' })).outcome).toBe('201')
    expect((await post('{}', { 'content-encoding': 'gzip' })).outcome).toBe('400 request_validation_failed')
    expect((await post('{}', { 'content-encoding': 'br' })).outcome).toBe(
      '415 unsupported_media_type Content-Encoding',
    )
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    'a/b/c',
  ])('415 unsupported_media_type: %s', async type => {
    const { outcome } = await post(JSON.stringify(valid), { 'content-type': type })
    expect(outcome).toBe('415 unsupported_media_type Content-Type')
  })

  test.each(['application/json; charset=utf-8', 'application/problem+json', 'APPLICATION/JSON'])(
    'is read as JSON with content type %s',
    async type => {
      expect((await post(JSON.stringify(valid), { 'content-type': type })).outcome).toBe('201')
    },
  )

  test('is read as JSON without a content type', async () => {
    const body = JSON.stringify(valid)
    const head = `POST ${keysPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`
    expect(await sendRaw(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)).toMatch(/^HTTP\/1.1 201 /)
  })

  test('answers 408 request_timeout with the caller’s request id for a body that never ends', async () => {
    const id = '0190b1f2-0000-4000-8000-000000000002'
    const head = `POST ${keysPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: ${id}\r\n`
    const answer = parseRaw(await sendRaw(`${head}Content-Length: 100\r\n\r\n{"kind":`))
    expect(answer).toEqual({ outcome: '408 request_timeout', requestId: id })
  })

  test('is unpacked in turns of organizations', async () => {
    const other = await plane.insertTenant('other')
    // Such as prose, so that it may unpack to more than a mebibyte.
    const name = Array.from({ length: 200_000 }, (_, at) => (at * 7_919).toString(36)).join(' the ')
    const raw = gzipSync(JSON.stringify({ ...valid, name }))
    const send = async (environmentId: string, admin: string): Promise<string> => {
      const headers = { 'content-encoding': 'gzip' }
      const path = `/v1/environments/${environmentId}/keys`
      return (await plane.call('POST', path, { key: admin, raw, headers })).outcome
    }
    let ended = 0
    const busy = Array.from({ length: 16 }, async () => {
      const outcome = await send(tenant.development.id, key)
      ended++
      return outcome
    })
    expect(await send(other.development.id, other.keys.admin)).toBe('400 invalid_request name')
    expect(ended).toBeLessThan(10)
    expect(new Set(await Promise.all(busy))).toEqual(new Set(['400 invalid_request name']))
  })

  test('takes its time to be unpacked once it has arrived', async () => {
    const hurried = await openControlPlane({}, { bodyTimeoutMs: 1 })
    try {
      const other = await hurried.insertTenant('acme')
      const bomb = gzipSync(Buffer.alloc(BODY_LIMIT + 1, 0x20))
      const head = [
        `POST /v1/environments/${other.development.id}/keys HTTP/1.1`,
        'Host: a',
        'Connection: close',
        `Authorization: Bearer ${other.keys.admin}`,
        'Content-Type: application/json',
        'Content-Encoding: gzip',
        `Content-Length: ${bomb.length}`,
      ]
      // One write, so that it is read whole.
      const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bomb])
      expect(parseRaw(await sendRaw(bytes, hurried.port)).outcome).toBe('413 request_too_large')
    } finally {
      await hurried.close()
    }
  })

  test('is read after the credential is checked', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await plane.call('POST', keysPath, { raw: '{', headers })).outcome).toBe('401 unauthenticated')
  })
})

describe('a route without a body', () => {
  const revoke = async (raw: string | undefined, headers: Record<string, string>) => {
    const { row } = await plane.insertApiKey(tenant)
    const sent = raw === undefined ? {} : { raw }
    return (await plane.call('POST', `/v1/keys/${row.id}/revoke`, { key, headers, ...sent })).outcome
  }

  test.each([
    [undefined, {}],
    [undefined, { 'content-type': 'application/json' }],
    ['', { 'content-type': 'text/plain' }],
    ['{}', {}],
    ['{}', { 'content-type': 'application/octet-stream' }],
    [' {} ', { 'content-type': 'no media type' }],
  ])('accepts %j with the headers %j', async (raw, headers) => {
    expect(await revoke(raw, headers as Record<string, string>)).toBe('200')
  })

  test('rejects any field, and a body that is not JSON', async () => {
    expect(await revoke('{"reason":"x"}', {})).toBe('400 invalid_request reason')
    expect(await revoke('{', {})).toBe('400 request_validation_failed')
    expect(await revoke('[]', {})).toBe('400 invalid_request')
    expect(await revoke('null', {})).toBe('400 invalid_request')
    expect(await revoke('  ', {})).toBe('400 request_validation_failed')
    expect(await revoke(' '.repeat(100_000), {})).toBe('400 invalid_request')
  })
})

describe('query', () => {
  test.each([
    ['limit=0', '400 request_validation_failed limit'],
    ['limit=101', '400 request_validation_failed limit'],
    ['limit=', '400 request_validation_failed limit'],
    ['limit=1e1', '400 request_validation_failed limit'],
    ['limit=%205', '400 request_validation_failed limit'],
    ['limit=-1', '400 request_validation_failed limit'],
    ['limit=1.5', '400 request_validation_failed limit'],
    ['limit=5&limit=6', '400 request_validation_failed limit'],
    ['cursor=', '400 request_validation_failed cursor'],
    [`cursor=${'a'.repeat(513)}`, '400 request_validation_failed cursor'],
    ['cursor=abc', '400 invalid_request cursor'],
    [`cursor=${'a'.repeat(512)}`, '400 invalid_request cursor'],
    ['page=2', '400 request_validation_failed page'],
    ['__proto__=2', '400 request_validation_failed __proto__'],
  ])('%s', async (query, outcome) => {
    const answer = await plane.call('GET', `${keysPath}?${query}`, { key })
    expect(answer.outcome).toBe(outcome)
  })
})

describe('bytes that are not an HTTP request', () => {
  test('answers 413 for a header block over 16 KiB', async () => {
    const text = await sendRaw(`GET /v1/orgs HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(17_000)}\r\n\r\n`)
    expect(parseRaw(text)).toEqual({
      outcome: '413 request_too_large',
      requestId: expect.stringMatching(UUID),
    })
  })

  test('answers 400 request_validation_failed for a malformed request', async () => {
    const text = await sendRaw('HELLO\r\n\r\n')
    expect(parseRaw(text)).toEqual({
      outcome: '400 request_validation_failed',
      requestId: expect.stringMatching(UUID),
    })
  })

  test('keeps serving after a client disconnects in the middle of its body', async () => {
    const socket = connect(plane.port, '127.0.0.1')
    const head = `POST ${keysPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: 9\r\n\r\n{`
    await new Promise(resolve => socket.write(head, resolve))
    socket.destroy()
    expect((await plane.call('GET', '/v1/orgs', { key })).outcome).toBe('200')
  })
})

test('never answers 5xx, whatever the body', async () => {
  const bodies = fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.string({ unit: 'binary' }),
    fc
      .record(
        {
          kind: fc.oneof(fc.constantFrom('secret', 'publishable'), fc.jsonValue()),
          name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
          scopes: fc.jsonValue(),
          restrictions: fc.record(
            { allowed_models: fc.array(fc.string({ unit: 'binary' })), max_request_cost_usd: fc.double() },
            { requiredKeys: [] },
          ),
          expires_at: fc.oneof(fc.date({ noInvalidDate: false }).map(String), fc.string()),
        },
        { requiredKeys: ['kind', 'name'] },
      )
      .map(value => JSON.stringify(value)),
  )
  await fc.assert(
    fc.asyncProperty(bodies, async raw => {
      expect((await post(raw)).status).toBeLessThan(500)
    }),
    { numRuns: 400 },
  )
}, 600_000)
