import http from 'node:http'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { REQUEST_BOUNDS } from '@rideau/llm/json/body-bounds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from './testing/harness/app.ts'

const MiB = 1024 * 1024
/** No refusal is longer, whatever it was that was refused. */
const MAX_ANSWER_BYTES = 8 * 1024

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

interface Refusal {
  readonly status: number
  /** Status and code, where the format has a place for the gateway's code. */
  readonly outcome: string
  readonly param: string | null
  readonly bytes: number
}

async function post(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Refusal> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as string,
  })
  const text = await response.text()
  const error = (JSON.parse(text) as { error?: { code?: string; param?: string } }).error
  return {
    status: response.status,
    outcome: error === undefined ? String(response.status) : `${response.status} ${error.code}`,
    param: error?.param ?? null,
    bytes: Buffer.byteLength(text),
  }
}

const fill = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length))
const list = (unit: string, bytes: number): string => `[${fill(`${unit},`, bytes)}${unit}]`
const numbered = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join()
const NEST = `${'['.repeat(60)}${']'.repeat(60)}`
const MESSAGE = '{"role":"user","content":"hi"}'
/** A request that would be served, with the given text as a field that is passed on unread. */
const withField = (text: string): string => `{"model":"sandbox/echo","messages":[${MESSAGE}],"x":${text}}`

const ROUTES = {
  native: '/v1/chat',
  compat: '/openai/v1/chat/completions',
  responses: '/openai/v1/responses',
  anthropic: '/anthropic/v1/messages',
  count: '/anthropic/v1/messages/count_tokens',
  gemini: '/gemini/v1beta/models/sandbox%2Fecho:generateContent',
  converse: '/bedrock/model/sandbox%2Fecho/converse',
  cohere: '/cohere/v2/chat',
  ollama: '/ollama/api/chat',
  show: '/ollama/api/show',
  embeddings: '/v1/embeddings',
  images: '/openai/v1/images/generations',
  feedback: '/v1/feedback',
}

function ask(route: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Refusal> {
  return post(app.gatewayUrl + route, body, { authorization: `Bearer ${app.secretKey}`, ...headers })
}

const GZIP = { 'content-encoding': 'gzip' }

describe('the data plane refuses', () => {
  test.each(Object.entries(ROUTES))('a gzip bomb with 413 at %s', async (_, route) => {
    for (const text of [fill('{},', 9 * MiB), list('{}', 9 * MiB), list(NEST, 9 * MiB), fill(' ', 9 * MiB)]) {
      const { status, bytes } = await ask(route, gzipSync(text), GZIP)
      expect([status, bytes < MAX_ANSWER_BYTES]).toEqual([413, true])
    }
  })

  test.each(Object.entries(ROUTES))('more values than it takes with 413 at %s', async (_, route) => {
    const limit = route === ROUTES.show ? MiB : 10 * MiB
    for (const text of [withField(list('{}', limit - 200)), withField(list('[]', limit - 200))]) {
      const { status, bytes } = await ask(route, text)
      expect([status, bytes < MAX_ANSWER_BYTES]).toEqual([413, true])
    }
  })

  test.each([
    ['lists in lists', withField(list(NEST, 20 * MiB))],
    ['numbers', withField(list('1', 20 * MiB))],
    ['strings', withField(list('""', 20 * MiB))],
    ['fields of one object', withField(`{${numbered(1_000_000, at => `"k${at}":0`)}}`)],
    ['objects of names of their own', withField(`[${numbered(1_000_000, at => `{"k${at}":0}`)}]`)],
    ['messages', `{"model":"sandbox/echo","messages":${list(MESSAGE, 20 * MiB)}}`],
    ['top-level fields', `{${numbered(5_000, at => `"k${at}":0`)}}`],
  ])('too many of them with 413 request_too_large: %s', async (_, text) => {
    const { outcome, bytes } = await ask(ROUTES.compat, text)
    expect([outcome, bytes < MAX_ANSWER_BYTES]).toEqual(['413 request_too_large', true])
  })

  test.each([
    ['pairs without a list', fill('{},', 20 * MiB)],
    ['a name and colons', `{"${'k'.repeat(15_000)}"${':'.repeat(MiB)}1}`],
    ['brackets', '['.repeat(20 * MiB)],
    ['quotes', '"'.repeat(20 * MiB)],
    ['a number of megabytes', withField('1'.repeat(20 * MiB))],
    ['half a string', `{"a":"${'\\"'.repeat(10 * MiB)}`],
    ['a name of megabytes', withField('1').replace('"x"', `"${'k'.repeat(20 * MiB)}"`)],
    ['a name of escapes', withField('1').replace('"x"', `"${'\\"'.repeat(10 * MiB)}"`)],
    ['a long name twice', `{"${'k'.repeat(9 * MiB)}":1,"${'k'.repeat(9 * MiB)}":1}`],
  ])('JSON that the gateway does not accept with 400 request_validation_failed: %s', async (_, text) => {
    for (const route of [ROUTES.native, ROUTES.compat]) {
      const { outcome, bytes } = await ask(route, text)
      expect([outcome, bytes < MAX_ANSWER_BYTES]).toEqual(['400 request_validation_failed', true])
    }
  })

  test.each(['k', '\u0000', '\ud800', '😀', 'é', '"', '\\'])(
    'an unknown field of many %j in an answer that names 64 characters of it',
    async unit => {
      const name = unit.repeat(Math.floor(2_000 / unit.length))
      const written = unit === '\ud800' ? '\\ud800'.repeat(2_000) : JSON.stringify(name).slice(1, -1)
      for (const text of [
        withField('1').replace('"x"', `"${written}"`),
        withField('1').replace('"role"', `"${written}":1,"role"`),
        withField('1').replace('"x"', `"${written}":1,"${written}"`),
      ]) {
        const { outcome, param, bytes } = await ask(ROUTES.native, text)
        expect(outcome).toMatch(/^400 (invalid_request|request_validation_failed)$/)
        expect(bytes).toBeLessThan(2_048)
        expect(param?.length).toBeLessThanOrEqual('messages[0].'.length + 64)
        expect(param).not.toMatch(/\p{Surrogate}/u)
      }
    },
  )

  test('tool calls whose arguments hold too much with 413 request_too_large', async () => {
    const call = (args: string, id = 'call_1') => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: args } }],
    })
    const result = (content: string) => ({ role: 'tool', tool_call_id: 'call_1', content })
    const asked = (...messages: object[]) =>
      JSON.stringify({ model: 'sandbox/echo', messages: [...messages, { role: 'user', content: 'hi' }] })
    for (const text of [list('{}', 4 * MiB), list(NEST, 4 * MiB), list('""', 4 * MiB), list('1', 10 * MiB)]) {
      expect(await ask(ROUTES.compat, asked(call(text), result('x')))).toMatchObject({
        outcome: '413 request_too_large',
        param: 'messages',
      })
      expect((await ask(ROUTES.compat, asked(call('{}'), result(text)))).outcome).toBe(
        '413 request_too_large',
      )
    }
    const words = fill('a "word", {and} [more] ', 3 * MiB)
    const honest = asked(call(JSON.stringify({ path: 'a.md', text: words })), result(words))
    expect((await ask(ROUTES.compat, honest)).outcome).toBe('200')
  })

  test('ids of tool calls that unpack to megabytes carry nothing, and cost nothing', async () => {
    const bomb = `call_1__rd1__${deflateRawSync(list('{}', 500 * 1024)).toString('base64url')}`
    const messages = Array.from({ length: 2_000 }, () => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: bomb, type: 'function', function: { name: 'f', arguments: '{}' } }],
    }))
    const last = { role: 'user', content: 'hi' }
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [...messages, last] })
    expect((await ask(ROUTES.native, body)).outcome).toBe('200')
  })

  test.each([
    [
      'a header of megabytes',
      `--b\r\nContent-Disposition: form-data; name="${'n'.repeat(20 * MiB)}"\r\n\r\nx\r\n--b--`,
    ],
    [
      'parts without number',
      `${fill('--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n', MiB)}--b--`,
    ],
    ['delimiters', `${fill('--b\r\n', 20 * MiB)}--b--`],
    ['nothing but line breaks', fill('\r\n', 20 * MiB)],
  ])('a form of %s with 400 request_validation_failed', async (_, body) => {
    const type = 'multipart/form-data; x="boundary=zzz"; boundary=b'
    const { outcome, bytes } = await ask('/openai/v1/images/edits', body, { 'content-type': type })
    expect([outcome, bytes < MAX_ANSWER_BYTES]).toEqual(['400 request_validation_failed', true])
  })
})

describe('the data plane serves', () => {
  test('a conversation of 12,000 messages', async () => {
    const messages = numbered(
      12_000,
      at => `{"role":"${at % 2 === 0 ? 'user' : 'assistant'}","content":"m${at}"}`,
    )
    expect((await ask(ROUTES.compat, `{"model":"sandbox/echo","messages":[${messages}]}`)).outcome).toBe(
      '200',
    )
  })

  test('an image of 20 MiB, plain and packed', async () => {
    const state = { value: 1 }
    const next = (): number => {
      state.value = (Math.imul(state.value, 1_664_525) + 1_013_904_223) >>> 0
      return state.value >>> 24
    }
    const url = `data:image/png;base64,${Buffer.from(Uint8Array.from({ length: 15 * MiB }, next)).toString('base64')}`
    const content = [
      { type: 'text', text: 'hi' },
      { type: 'image_url', image_url: { url } },
    ]
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }] })
    expect((await ask(ROUTES.compat, body)).outcome).toBe('200')
    expect((await ask(ROUTES.compat, gzipSync(body), GZIP)).outcome).toBe('200')
  })

  test('a long text, as it was written', async () => {
    const text = fill('A line of "text" with é, 日 and 😀\n', MiB)
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: text }] })
    const response = await app.call(ROUTES.compat, body)
    const answer = (await response.json()) as { choices: { message: { content: string } }[] }
    expect(answer.choices[0]?.message.content === text).toBe(true)
  })

  test('300,000 tokens for embeddings', async () => {
    const input = Array.from({ length: 300 }, () => Array.from({ length: 1_000 }, (_, at) => at + 50_000))
    const body = JSON.stringify({ model: 'sandbox/embed', input })
    expect((await ask('/openai/v1/embeddings', body)).outcome).toBe('200')
  })

  test('a request repeated many times in gzip, up to a megabyte', async () => {
    const body = withField(JSON.stringify('the same prompt again. '.repeat(45_000)))
    expect(gzipSync(body).length * 100).toBeLessThan(body.length)
    expect((await ask(ROUTES.compat, gzipSync(body), GZIP)).outcome).toBe('200')
  })

  test('other callers while slices of long bodies are parsed', async () => {
    const long = withField(`[${numbered(REQUEST_BOUNDS.maxParts / 2 - 100, at => `{"k${at}":0}`)}]`)
    let isOver = false
    const slow = Promise.all([1, 2, 3].map(() => ask(ROUTES.compat, long))).then(results => {
      isOver = true
      return results
    })
    let served = 0
    while (!isOver) {
      expect((await ask(ROUTES.compat, withField('1'))).outcome).toBe('200')
      served++
    }
    expect((await slow).map(({ outcome }) => outcome)).toEqual(['200', '200', '200'])
    expect(served).toBeGreaterThan(5)
  })
})

/** With no credential at all. */
const OPEN = ['/v1/session', '/v1/setup', '/v1/invitations/accept', '/v1/session/password-reset']

describe('the control plane refuses', () => {
  test.each(OPEN)('more than 64 KiB without a credential with 413 request_too_large at %s', async route => {
    const texts = ['{},', NEST, ' '].map(unit => fill(unit, 10 * MiB - 10))
    for (const text of [...texts, `{"${'k'.repeat(MiB)}":1}`, `{"a":"${'x'.repeat(70_000)}"}`]) {
      for (const [body, headers] of [
        [gzipSync(text), GZIP],
        [text, {}],
      ] as [string | Buffer, Record<string, string>][]) {
        const { outcome, bytes } = await post(app.controlUrl + route, body, headers)
        expect([outcome, bytes < MAX_ANSWER_BYTES]).toEqual(['413 request_too_large', true])
      }
    }
  })

  test.each(OPEN)('many values or fields without a credential at %s', async route => {
    for (const text of [
      `{"a":${list('{}', 60_000)}}`,
      `{"a":${list(NEST, 60_000)}}`,
      `{"a":${list('1', 60_000)}}`,
      `{${numbered(5_000, at => `"k${at}":0`)}}`,
    ]) {
      const { outcome, bytes } = await post(app.controlUrl + route, text)
      expect([outcome, bytes < MAX_ANSWER_BYTES]).toEqual(['413 request_too_large', true])
    }
  })

  test.each([
    ['a list', `{"kind":"secret","name":"n","scopes":${list('{}', 9 * MiB)}}`, '413 request_too_large'],
    [
      'lists in lists',
      `{"kind":"secret","name":"n","scopes":${list(NEST, 9 * MiB)}}`,
      '413 request_too_large',
    ],
    ['fields', `{${numbered(700_000, at => `"k${at}":0`)}}`, '413 request_too_large'],
    ['a name', `{"kind":"secret","name":"n","${'k'.repeat(9 * MiB)}":1}`, '400 request_validation_failed'],
    ['a text', `{"kind":"secret","name":"${'é'.repeat(4 * MiB)}"}`, '400 invalid_request'],
    [
      'unknown fields',
      `{"kind":"secret","name":"n",${numbered(200, at => `"${'k'.repeat(1_000)}${at}":0`)}}`,
      '400 invalid_request',
    ],
    [
      'wrong entries',
      `{"kind":"secret","name":"n","restrictions":{"allowed_models":${list('{}', 25_000)}}}`,
      '400 invalid_request',
    ],
  ])('too much of it from a management key: %s', async (_, text, expected) => {
    const headers = { authorization: `Bearer ${app.managementKey}` }
    const route = `${app.controlUrl}/v1/environments/${app.developmentId}/keys`
    const { outcome, bytes } = await post(route, text, headers)
    expect([outcome, bytes < MAX_ANSWER_BYTES]).toEqual([expected, true])
    if (expected === '413 request_too_large') {
      expect((await post(route, gzipSync(text), { ...headers, ...GZIP })).outcome).toBe(expected)
    }
  })

  test('a body that is still coming, with an answer that reaches a client which closes behind it', async () => {
    const body = Buffer.alloc(9 * MiB, 0x20)
    for (let again = 0; again < 10; again++) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          'content-type': 'application/json',
          'content-length': body.length,
          connection: 'close',
        }
        const req = http.request(`${app.controlUrl}/v1/session`, { method: 'POST', agent: false, headers })
        req.on('response', res => res.resume().on('end', () => resolve(res.statusCode)))
        req.on('error', reject)
        req.end(body)
      })
      expect(status).toBe(413)
    }
  })

  test('more than 64 KiB where there is no body to take', async () => {
    const { id } = await app.createKey({ name: 'k' })
    const route = `${app.controlUrl}/v1/keys/${id}/revoke`
    const headers = { authorization: `Bearer ${app.managementKey}` }
    expect((await post(route, `${fill(' ', 9 * MiB)}{}`, headers)).outcome).toBe('400 invalid_request')
  })
})

describe('the control plane serves', () => {
  test('the longest list there is', async () => {
    const headers = { authorization: `Bearer ${app.managementKey}` }
    const models = numbered(1_000, at => `"openai/${String(at).padStart(26, 'é')}"`)
    const body = `{"kind":"secret","name":"n","restrictions":{"allowed_models":[${models}]}}`
    const { outcome } = await post(
      `${app.controlUrl}/v1/environments/${app.developmentId}/keys`,
      body,
      headers,
    )
    expect(outcome).toBe('201')
  })
})
