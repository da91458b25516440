import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp({}, { bodyTimeoutMs: 60_000, graceMs: 1_000 })
})

afterAll(async () => {
  await app.close()
})

const OK = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
const CHAT_ROUTES = ['/v1/chat', '/openai/v1/chat/completions']

/** Expects the complete error envelope, with the request id of the header. */
async function expectFault(
  response: Response,
  status: number,
  code: string,
  param?: string | null,
): Promise<void> {
  const body = (await response.json()) as any
  expect([response.status, body.error.code]).toEqual([status, code])
  expect(body.error).toEqual({
    type: expect.any(String),
    code,
    message: expect.any(String),
    param: param === undefined ? (body.error.param ?? null) : param,
    request_id: response.headers.get('x-request-id'),
    doc_url: `${app.controlUrl}/docs/errors#${code}`,
  })
}

async function stillServes(): Promise<void> {
  expect((await app.call('/v1/chat', OK)).status).toBe(200)
}

describe('credentials', () => {
  test.each([
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['an empty Bearer', { authorization: 'Bearer ' }],
    ['a Bearer of spaces', { authorization: 'Bearer    ' }],
  ])('rejects %s with 401 unauthenticated', async (_what, headers) => {
    const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: '{',
    })
    await expectFault(response, 401, 'unauthenticated')
  })

  test.each(['garbage', 'rd_sk_dev_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'eyJhbGciOiJFUzI1NiJ9.e30.x'])(
    'rejects the unknown Bearer %s with 401 invalid_key',
    async key => {
      await expectFault(await app.call('/v1/chat', OK, { key }), 401, 'invalid_key')
    },
  )

  test('rejects a management key with 401 invalid_key, and says what it is for', async () => {
    const response = await app.call('/v1/chat', OK, { key: app.managementKey })
    const { error } = (await response.clone().json()) as { error: { message: string } }
    await expectFault(response, 401, 'invalid_key')
    expect(error.message).toContain('for the control plane')
  })

  test('accepts the Bearer scheme in any case', async () => {
    const response = await app.call('/v1/chat', OK, {
      headers: { authorization: `bearer ${app.secretKey}` },
    })
    expect(response.status).toBe(200)
  })
})

describe('unknown routes', () => {
  test.each([
    ['GET', '/v1/chat'],
    ['PUT', '/v1/chat'],
    ['POST', '/v1/chat/'],
    ['POST', '/v1//chat'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/V1/chat'],
    ['GET', '/'],
    ['DELETE', '/v1/models'],
    ['HEAD', '/v1/models'],
    ['POST', '/openai/v1/../v1/chat/completions/x'],
  ])('%s %s returns 404 route_not_found, with or without a key', async (method, path) => {
    for (const headers of [{}, { authorization: `Bearer ${app.secretKey}` }] as Record<string, string>[]) {
      const response = await fetch(app.gatewayUrl + path, { method, headers })
      expect(response.status).toBe(404)
      if (method !== 'HEAD') await expectFault(response, 404, 'route_not_found')
    }
  })
})

describe.each(CHAT_ROUTES)('a body at %s', route => {
  test.each(['', '{', 'null', '"text"', '[]', '{"model":"a",}', '\u{feff}{}', '{"a":1}{"b":2}'])(
    'rejects %j',
    async body => {
      const response = await app.call(route, body)
      expect(response.status).toBe(400)
      const { error } = (await response.json()) as any
      expect(['request_validation_failed', 'invalid_request']).toContain(error.code)
    },
  )

  test('rejects a body that is not UTF-8 with 400 request_validation_failed', async () => {
    const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
    await expectFault(await app.call(route, bytes), 400, 'request_validation_failed')
  })

  test.each([
    '{"model":"sandbox/echo","model":"openai/gpt-4o","messages":[]}',
    '{"model":"sandbox/echo","messages":[],"mod\\u0065l":"openai/gpt-4o"}',
    '{"model":"sandbox/echo","messages":[{"role":"user","content":"a","content":"b"}]}',
    '{"model":"sandbox/echo","messages":[],"x":{"deep":[{"k":1,"k":2}]}}',
  ])('rejects a duplicate key with 400 request_validation_failed: %s', async body => {
    await expectFault(await app.call(route, body), 400, 'request_validation_failed')
  })

  test.each([
    'Model',
    'MODEL',
    'Messages',
    'Stream',
    'Max_Tokens',
    'max_Output_tokens',
    'Tools',
    'N',
    'End_User',
    'Provider_options',
  ])(
    'rejects %s, a case variant of an authorized or priced field, with 400 request_validation_failed',
    async field => {
      await expectFault(
        await app.call(route, { ...OK, [field]: 'x' }),
        400,
        'request_validation_failed',
        field,
      )
    },
  )

  test('rejects more than 64 levels of nesting with 400 request_validation_failed', async () => {
    const deep = `{"model":"sandbox/echo","messages":[],"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    await expectFault(await app.call(route, deep), 400, 'request_validation_failed')
  })

  test.each([
    [{ messages: OK.messages }, 'model'],
    [{ ...OK, model: 7 }, 'model'],
    [{ ...OK, model: '' }, 'model'],
    [{ model: OK.model }, 'messages'],
    [{ ...OK, messages: [] }, 'messages'],
    [{ ...OK, messages: 'hi' }, 'messages'],
    [{ ...OK, messages: ['hi'] }, 'messages[0]'],
    [{ ...OK, messages: [...OK.messages, { content: 'x' }] }, 'messages[1].role'],
    [{ ...OK, messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    [{ ...OK, messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0].type'],
    [{ ...OK, stream: 'yes' }, 'stream'],
    [{ ...OK, max_tokens: 0 }, 'max_tokens'],
    [{ ...OK, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...OK, max_tokens: 5, max_completion_tokens: 6 }, 'max_tokens'],
    [{ ...OK, temperature: '1' }, 'temperature'],
    [{ ...OK, stop: [1] }, 'stop[0]'],
    [{ ...OK, tools: {} }, 'tools'],
    [{ ...OK, tools: [{ type: 'hologram' }] }, 'tools[0].type'],
    [{ ...OK, tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ ...OK, response_format: 'json' }, 'response_format'],
    [{ ...OK, stream_options: [] }, 'stream_options'],
  ])('rejects %j with 400 invalid_request and param %s', async (body, param) => {
    await expectFault(await app.call(route, body), 400, 'invalid_request', param)
  })

  test('treats null on an optional field as absent', async () => {
    const response = await app.call(route, {
      ...OK,
      temperature: null,
      tools: null,
      stream: null,
      stop: null,
    })
    expect(response.status).toBe(200)
  })

  test('rejects other content types with 415 unsupported_media_type; accepts +json and a missing one', async () => {
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
    ]) {
      await expectFault(
        await app.call(route, JSON.stringify(OK), { headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
        'Content-Type',
      )
    }
    for (const type of ['application/vnd.api+json', 'APPLICATION/JSON; charset=utf-8']) {
      expect((await app.call(route, OK, { headers: { 'content-type': type } })).status).toBe(200)
    }
    const bare = await fetch(app.gatewayUrl + route, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.secretKey}` },
      body: new Blob([JSON.stringify(OK)]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(bare.status).toBe(200)
  })

  test('accepts gzip, and rejects invalid gzip and bodies that decompress beyond the limit', async () => {
    const gzip = { 'content-encoding': 'gzip' }
    expect((await app.call(route, gzipSync(JSON.stringify(OK)), { headers: gzip })).status).toBe(200)
    await expectFault(
      await app.call(route, JSON.stringify(OK), { headers: gzip }),
      400,
      'request_validation_failed',
    )
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, 32))
    await expectFault(await app.call(route, bomb, { headers: gzip }), 413, 'request_too_large')
  })

  test('rejects more than 32 MiB with 413 request_too_large, by its declared or actual length', async () => {
    const body = JSON.stringify({ ...OK, x: 'x'.repeat(33 * 1024 * 1024) })
    await expectFault(await app.call(route, body), 413, 'request_too_large')
    const raw = await openRaw(app.gatewayUrl)
    raw.socket.write(head(route, ['Transfer-Encoding: chunked']))
    const block = Buffer.alloc(1024 * 1024, 120)
    const write = (): void => {
      if (raw.socket.destroyed || raw.text().includes('\r\n')) return
      raw.socket.write(`${block.length.toString(16)}\r\n`)
      raw.socket.write(block)
      raw.socket.write('\r\n', () => setImmediate(write))
    }
    write()
    expect(await raw.until('request_too_large')).toMatch(/^HTTP\/1\.1 413 /)
    raw.socket.destroy()
    await stillServes()
  })
})

test("refuses an unknown field by its path in the native format, and passes it on in OpenAI's", async () => {
  await expectFault(
    await app.call('/v1/chat', { ...OK, unheard_of: 1 }),
    400,
    'invalid_request',
    'unheard_of',
  )
  const nested = { ...OK, messages: [{ role: 'user', content: 'x', unheard_of: 1 }] }
  await expectFault(await app.call('/v1/chat', nested), 400, 'invalid_request', 'messages[0].unheard_of')
  expect((await app.call('/openai/v1/chat/completions', { ...OK, unheard_of: 1 })).status).toBe(200)
})

describe('broken requests', () => {
  test('rejects a header block over 16 KiB with 413 request_too_large', async () => {
    const raw = await openRaw(app.gatewayUrl)
    raw.socket.write(`${head('/v1/chat', [`X-Long: ${'x'.repeat(20_000)}`])}`)
    expect(await raw.until('request_too_large')).toMatch(/^HTTP\/1\.1 413 /)
    await stillServes()
  })

  test.each([
    ['a header block over 16 KiB', 413, 'request_too_large', [`X-Long: ${'x'.repeat(20_000)}`]],
    ['an invalid header line', 400, 'request_validation_failed', ['no colon here']],
    [
      'two Content-Length headers',
      400,
      'request_validation_failed',
      ['Content-Length: 1', 'Content-Length: 2'],
    ],
  ])('answers %s in the format that its request line names', async (_, status, code, headers) => {
    const anthropic = await openRaw(app.gatewayUrl)
    anthropic.socket.write(head('/anthropic/v1/messages', headers))
    const text = await anthropic.until(code)
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
    expect(body).toMatchObject({
      type: 'error',
      error: { code, type: expect.stringMatching(/_error$|too_large$/) },
    })
    expect(text).toContain(`\r\nrequest-id: ${body.request_id}\r\n`)
    const native = await openRaw(app.gatewayUrl)
    native.socket.write(head('/v1/chat', headers))
    expect(await native.until(code)).not.toContain('"type":"error"')
    await stillServes()
  })

  test('answers an invalid method in the format of its path, and bytes without a request line in the native one', async () => {
    const anthropic = await openRaw(app.gatewayUrl)
    anthropic.socket.write('P\x00ST /anthropic/v1/messages?beta=true HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await anthropic.until('request_validation_failed')).toContain('"type":"error"')
    const other = await openRaw(app.gatewayUrl)
    other.socket.write('\x16\x03\x01hello, hello')
    expect(await other.until('request_validation_failed')).not.toContain('"type":"error"')
    await stillServes()
  })

  test('answers bytes that are not HTTP with 400 request_validation_failed', async () => {
    const raw = await openRaw(app.gatewayUrl)
    raw.socket.write('hello\r\n\r\n')
    expect(await raw.until('request_validation_failed')).toMatch(/^HTTP\/1\.1 400 /)
    await stillServes()
  })

  test.each(['before the body is complete', 'at once'])(
    'a connection that is closed %s leaves no state behind',
    async when => {
      for (let i = 0; i < 50; i++) {
        const raw = await openRaw(app.gatewayUrl)
        if (when === 'at once') raw.socket.destroy()
        else
          raw.socket.write(`${head('/v1/chat', ['Content-Length: 1000'])}{"mod`, () => raw.socket.destroy())
      }
      await stillServes()
    },
  )
})

test('ten thousand random bodies never cause a 500', async () => {
  const field = fc.constantFrom(
    'model',
    'messages',
    'stream',
    'tools',
    'tool_choice',
    'response_format',
    'stop',
    'n',
    'max_tokens',
    'temperature',
    'metadata',
    'end_user',
    'provider_options',
    'stream_options',
    'reasoning_effort',
    'user',
    '__proto__',
    'constructor',
  )
  const message = fc.oneof(
    fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'x'),
      content: fc.jsonValue({ maxDepth: 3 }),
    }),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.array(message, { maxLength: 4 }),
    fc.constantFrom('sandbox/echo', 'sandbox/tools', 'sandbox/json', 'auto', true, 1),
  )
  const shaped = fc.dictionary(field, value).map(fields => JSON.stringify({ ...OK, ...fields }))
  const loose = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc.dictionary(field, value).map(fields => JSON.stringify(fields)),
  )
  const bodies = fc.sample(
    fc.oneof({ weight: 2, arbitrary: shaped }, { weight: 1, arbitrary: loose }),
    10_000,
  )
  const statuses = new Map<number, number>()
  const work = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const route = CHAT_ROUTES[bodies.length % 2] as string
      const response = await app.call(route, body)
      await response.text()
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  expect([...statuses.keys()].filter(status => status >= 500)).toEqual([])
  // The generator reaches both outcomes of the checks.
  expect(statuses.get(200)).toBeGreaterThan(100)
  expect(statuses.get(400)).toBeGreaterThan(1000)
  await stillServes()
}, 600_000)

function head(route: string, headers: string[]): string {
  return [
    `POST ${route} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${app.secretKey}`,
    'Content-Type: application/json',
    ...headers,
    '\r\n',
  ].join('\r\n')
}
