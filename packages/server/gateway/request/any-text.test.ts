import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message } from '../../testing/fakes/scripted-anthropic.ts'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openRaw, type RawConnection } from '../../testing/harness/raw-connection.ts'
import { RequestContext } from './request-context.ts'

let app: TestApp
let upstream: ScriptedUpstream
/** True: every request acts as if a silence had passed that needs a keep-alive. */
let isLate = false

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  app = await openTestApp(
    {},
    {
      bodyTimeoutMs: 60_000,
      graceMs: 1_000,
      onDeps: deps => {
        const { add } = deps.ticker
        deps.ticker.add = ticking => {
          add(ticking)
          if (!(ticking instanceof RequestContext)) return
          const { tick } = ticking
          ticking.tick = now => tick.call(ticking, isLate ? now + 20_000 : now)
        }
      },
    },
  )
  await app.addCredential('anthropic', { api_key: 'k', base_url: upstream.baseUrl })
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
  await app.addCredential('custom-x', { api_key: 'k', base_url: upstream.baseUrl })
  await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: 'drop' })
})

afterAll(async () => {
  await app.close()
  await upstream.close()
})

const MESSAGES = [{ role: 'user', content: 'hi' }]

async function expectServing(): Promise<void> {
  const served = await app.call('/v1/chat', { model: 'sandbox/echo', messages: MESSAGES })
  expect([served.status, await served.text()]).toEqual([200, expect.any(String)])
}

describe('half a surrogate pair in a model name', () => {
  test('is encoded in a header of a stream whose head is sent by a keep-alive', async () => {
    upstream.script(() => {})
    isLate = true
    const abort = new AbortController()
    try {
      const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
        method: 'POST',
        signal: abort.signal,
        headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
        body: '{"model":"custom-x/\\ud800","stream":true,"messages":[{"role":"user","content":"hi"}]}',
      })
      // A 400 is as good. Any answer is required.
      expect([200, 400]).toContain(response.status)
      if (response.status === 200) expect(response.headers.get('x-rideau-model')).toBe('custom-x/%EF%BF%BD')
    } finally {
      isLate = false
      abort.abort()
    }
    await expectServing()
  })

  test('is encoded in a header of a plain answer', async () => {
    upstream.script(completion('hello'))
    const response = await app.call(
      '/v1/chat',
      `{"model":"custom-x/\\udc00","messages":${JSON.stringify(MESSAGES)}}`,
    )
    expect([200, 400]).toContain(response.status)
    await response.text()
    await expectServing()
  })
})

describe('the header that names dropped fields', () => {
  const dropped = async (fields: string): Promise<[number, string | null]> => {
    upstream.script(message([{ type: 'text', text: 'hello' }]))
    const response = await app.call(
      '/openai/v1/chat/completions',
      `{"model":"anthropic/claude-sonnet-4-5",${fields},"messages":${JSON.stringify(MESSAGES)}}`,
    )
    await response.text()
    return [response.status, response.headers.get('x-rideau-dropped-params')]
  }

  test.each([
    ['is encoded if a name is not ASCII', '"größe":1', 'gr%C3%B6%C3%9Fe'],
    ['is encoded if a name contains a line end', '"a\\r\\nX-Other: 1":1', 'a%0D%0AX-Other:%201'],
    ['is encoded if a name contains half a surrogate pair', '"\\ud83e":1,"ok":1', '%EF%BF%BD, ok'],
    [
      'states names as the caller wrote them if the format spells some in another way',
      '"constructor":1,"toString":1',
      'constructor, toString',
    ],
  ])('%s', async (_what, fields, list) => {
    expect(await dropped(fields)).toEqual([200, list])
    await expectServing()
  })

  test('is cut between two names if they are many or long, and says so', async () => {
    const many = Array.from({ length: 500 }, (_, index) => `"field_${index}":1`).join(',')
    const [status, list] = await dropped(many)
    expect([status, list]).toEqual([200, expect.stringMatching(/^field_0, field_1, .*field_\d+, \.\.\.$/)])
    expect(list?.length).toBeLessThanOrEqual(1024)
    expect(await dropped(`"${'x'.repeat(16_000)}":1`)).toEqual([200, '...'])
    await expectServing()
  })
})

/** Any UTF-16 text, including half surrogate pairs, control characters and names of Object.prototype. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map(units => String.fromCharCode(...units)),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'valueOf', 'a,b', 'a\r\nb: c', 'x'.repeat(5000)),
)

/** Bytes that an HTTP parser accepts as a header's value, and some that it rejects. */
const anyBytes = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0xff }), fc.constant(9)), { maxLength: 60 })
  .map(bytes => Buffer.from(bytes).toString('latin1'))

const ROUTES = [
  '/v1/chat',
  '/openai/v1/chat/completions',
  '/openai/v1/responses',
  '/anthropic/v1/messages',
  '/cohere/v2/chat',
  '/ollama/api/chat',
  '/v1/embeddings',
  '/openai/v1/images/generations',
]

/** Returns the answer to bytes that are written as they are. */
async function send(head: string, body = ''): Promise<string> {
  const raw = await openRaw(app.gatewayUrl)
  const closed = new Promise<void>(resolve => raw.socket.once('close', () => resolve()))
  raw.socket.write(
    Buffer.from(`${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'latin1'),
  )
  await closed
  return raw.text()
}

describe('every text of a caller is answered with a status', () => {
  test('in a model, a field name and a value', async () => {
    upstream.script((res, seen) => completion('hello')(res, seen))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ROUTES),
        fc.constantFrom('', 'custom/', 'anthropic/', 'sandbox/'),
        anyText,
        anyText,
        anyText,
        fc.boolean(),
        async (route, provider, model, field, value, stream) => {
          const body = { model: provider + model, messages: MESSAGES, input: 'hi', prompt: 'hi', stream }
          // Not an object literal, since `__proto__` has to be a field.
          const sent = `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(field)}:${JSON.stringify(value)}}`
          const response = await app.call(route, sent)
          expect(response.status).toBeGreaterThanOrEqual(200)
          await response.text()
        },
      ),
      { numRuns: 600 },
    )
    await expectServing()
  }, 300_000)

  test('in the path and the query', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'),
        fc.constantFrom('/v1/models/', '/gemini/v1beta/models/', '/bedrock/model/', '/v1/requests/', '/'),
        fc.string({ unit: 'grapheme', maxLength: 30 }).map(encodeURIComponent),
        anyBytes.map(text => text.replaceAll(/[\s]/g, '')),
        async (method, prefix, path, query) => {
          const text = await send(
            `${method} ${prefix}${path}?key=${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.secretKey}\r\n`,
          )
          expect(text).toMatch(/^HTTP\/1\.1 \d{3} /)
        },
      ),
      { numRuns: 600 },
    )
    await expectServing()
  }, 300_000)

  test('in the headers that are read, the origin and the request id', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record(
          {
            Origin: anyBytes,
            'X-Request-Id': anyBytes,
            'X-Rideau-End-User': anyBytes,
            'Access-Control-Request-Method': anyBytes,
            'Access-Control-Request-Headers': anyBytes,
            'Anthropic-Beta': anyBytes,
            'Content-Type': anyBytes,
            'Content-Encoding': anyBytes,
            'X-Api-Key': anyBytes,
          },
          { requiredKeys: [] },
        ),
        fc.constantFrom('POST /v1/chat', 'POST /anthropic/v1/messages', 'OPTIONS /v1/chat', 'GET /v1/models'),
        async (headers, line) => {
          const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
          const body = JSON.stringify({ model: 'anthropic/m', max_tokens: 9, messages: MESSAGES })
          const text = await send(
            `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.secretKey}\r\n${lines.join('')}`,
            line.startsWith('POST') ? body : '',
          )
          expect(text).toMatch(/^HTTP\/1\.1 \d{3} /)
        },
      ),
      { numRuns: 600 },
    )
    await expectServing()
  }, 300_000)
})

describe('other kinds of requests', () => {
  test.each(['/v1/chat', '/v1/models', '/healthz', '/anthropic/v1/messages', '/nothing'])(
    'HEAD %s is answered with a status and no body',
    async path => {
      const text = await send(`HEAD ${path} HTTP/1.1\r\nHost: x\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 \d{3} [^]*\r\n\r\n$/)
    },
  )

  test.each(['websocket', 'h2c', 'größe'])(
    'an upgrade to %s is ignored, and the request is served',
    async protocol => {
      const head = `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: ${protocol}\r\n`
      const raw = await openRaw(app.gatewayUrl)
      raw.socket.write(Buffer.from(`${head}Connection: Upgrade\r\n\r\n`, 'latin1'))
      expect(await raw.until('"ok"')).toMatch(/^HTTP\/1\.1 200 /)
      raw.socket.destroy()
    },
  )

  test('CONNECT closes the connection, also if its peer goes on writing and resets it', async () => {
    const closed = (raw: RawConnection) => new Promise(resolve => raw.socket.once('close', resolve))
    const raw = await openRaw(app.gatewayUrl)
    const isClosed = closed(raw)
    raw.socket.write('CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\nand more')
    raw.socket.resetAndDestroy()
    await isClosed
    const other = await openRaw(app.gatewayUrl)
    const isOtherClosed = closed(other)
    other.socket.write('CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n')
    await isOtherClosed
    expect(other.text()).toMatch(/^HTTP\/1\.1 404 /)
    await expectServing()
  })
})
