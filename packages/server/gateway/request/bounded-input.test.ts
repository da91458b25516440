import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

/**
 * Everything a caller names is bounded in every format, and refused requests leave small records. An attack needs only
 * the weakest credential.
 */

let app: TestApp
let clientToken: string

beforeAll(async () => {
  app = await openTestApp()
  clientToken = await makePlaygroundToken(app)
})
afterAll(() => app.close())

const TEXT = [{ role: 'user', content: 'hi' }]
const PARTS = [{ role: 'user', content: [{ text: 'hi' }] }]
const CONTENTS = [{ role: 'user', parts: [{ text: 'hi' }] }]

interface FormatCase {
  readonly name: string
  readonly route: (model: string) => string
  readonly body: (model: string) => object
  /** The format's field for string pairs. */
  readonly metadata?: string
  readonly maxKey?: number
}

const FORMATS: readonly FormatCase[] = [
  {
    name: 'native chat',
    route: () => '/v1/chat',
    body: model => ({ model, messages: TEXT }),
    metadata: 'metadata',
  },
  {
    name: 'chat completions',
    route: () => '/openai/v1/chat/completions',
    body: model => ({ model, messages: TEXT }),
    metadata: 'metadata',
  },
  {
    name: 'responses',
    route: () => '/openai/v1/responses',
    body: model => ({ model, input: 'hi' }),
    metadata: 'metadata',
  },
  {
    name: 'messages',
    route: () => '/anthropic/v1/messages',
    body: model => ({ model, messages: TEXT, max_tokens: 5 }),
  },
  {
    name: 'count_tokens',
    route: () => '/anthropic/v1/messages/count_tokens',
    body: model => ({ model, messages: TEXT }),
  },
  {
    name: 'generateContent',
    route: model => `/gemini/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: () => ({ contents: CONTENTS }),
    metadata: 'labels',
  },
  {
    name: 'ollama',
    route: () => '/ollama/api/chat',
    body: model => ({ model, messages: TEXT, stream: false }),
  },
  { name: 'cohere', route: () => '/cohere/v2/chat', body: model => ({ model, messages: TEXT }) },
  {
    name: 'converse',
    route: model => `/bedrock/model/${encodeURIComponent(model)}/converse`,
    body: () => ({ messages: PARTS }),
    metadata: 'requestMetadata',
    maxKey: 256,
  },
  { name: 'embeddings', route: () => '/v1/embeddings', body: model => ({ model, input: 'hi' }) },
  {
    name: 'compat embeddings',
    route: () => '/openai/v1/embeddings',
    body: model => ({ model, input: 'hi' }),
  },
  {
    name: 'images',
    route: () => '/openai/v1/images/generations',
    body: model => ({ model, prompt: 'a fox' }),
  },
]

const toModel = (name: string): string => {
  if (name === 'images') return 'sandbox/image'
  return name.endsWith('embeddings') ? 'sandbox/embed' : 'sandbox/echo'
}

interface Call {
  readonly key?: string
  readonly model?: string
  readonly fields?: object
  readonly headers?: Record<string, string>
}

/** Sends the body compressed. */
async function call(format: FormatCase, { model = toModel(format.name), ...options }: Call) {
  const body = gzipSync(JSON.stringify({ ...format.body(model), ...options.fields }))
  const response = await app.call(format.route(model), body, {
    ...(options.key === undefined ? {} : { key: options.key }),
    headers: { 'content-encoding': 'gzip', ...options.headers },
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** Returns the status and the field that the error names in the format's shape. */
async function rejectionOf(format: FormatCase, options: Call): Promise<string> {
  const { status, text } = await call(format, options)
  expect(text.length).toBeLessThan(2000)
  return `${status} ${text}`
}

const HALF = '\ud800'

describe.each(FORMATS)('$name', format => {
  test.each([
    ['of 513 characters', `custom/${'m'.repeat(506)}`],
    ['with half a surrogate pair', `custom-x/${HALF}`],
    ['with NUL', 'sandbox/echo\0'],
  ])('refuses a model name %s with 400', async (_, model) => {
    // A URL cannot contain it.
    if (isInPath(format) && model.includes(HALF)) return
    expect(await rejectionOf(format, { model })).toMatch(/^400 .*model/s)
    expect(await rejectionOf(format, { model, key: clientToken })).toMatch(/^400 /)
  })

  test('accepts a model name of 512 characters and records it in full', async () => {
    const model = `sandbox/${'€'.repeat(504)}`
    const { status, headers } = await call(format, { model })
    expect([400, 404]).toContain(status)
    const log = await app.findLog(headers.get('x-request-id') ?? '')
    expect(log.model_requested).toBe(model)
  })

  test.each([
    ['empty', ''],
    ['of 256 characters', 'u'.repeat(256)],
    ['of 4 KB', 'u'.repeat(4096)],
    ['with half a surrogate pair', `u${HALF}`],
    ['with NUL', 'u\0'],
    ['of the playground', 'member:018f3b2e-0000-7000-8000-000000000000'],
    ['of a device', 'device:abc'],
    ['that is not a string', 7],
  ])('refuses an end user %s with 400 invalid_request, param end_user', async (_, end_user) => {
    const rejection = await rejectionOf(format, { fields: { end_user } })
    expect(rejection).toMatch(/^400 .*end_user/s)
  })

  test.each(['member:x', 'device:x', 'u'.repeat(256)])(
    'refuses the end user %s in the header with 400, param X-Rideau-End-User',
    async id => {
      const rejection = await rejectionOf(format, { headers: { 'x-rideau-end-user': id } })
      expect(rejection).toMatch(/^400 .*X-Rideau-End-User/s)
    },
  )
})

function isInPath(format: FormatCase): boolean {
  return format.route('x') !== format.route('y')
}

describe.each(FORMATS.filter(({ metadata }) => metadata !== undefined))('$name', format => {
  const { metadata: field = '', maxKey = 64 } = format
  const withPairs = (pairs: unknown, options: Call = {}) =>
    call(format, { ...options, fields: { [field]: pairs } })

  test.each([
    ['a value of 513 characters', { k: 'v'.repeat(513) }],
    ['a key that is too long', { ['k'.repeat(maxKey + 1)]: 'v' }],
    ['an empty key', { '': 'v' }],
    ['NUL in a value', { k: 'v\0' }],
    ['half a surrogate pair in a value', { k: HALF }],
    ['half a surrogate pair in a key', { [HALF]: 'v' }],
  ])(`refuses ${field} with %s with 400, for a model that is unknown too`, async (_, pairs) => {
    for (const model of [toModel(format.name), 'nobody/knows']) {
      const { status, text } = await withPairs(pairs, { model })
      expect(`${status} ${text}`).toMatch(new RegExp(`^400 .*${field}`, 's'))
    }
  })

  test('logs pairs of the longest allowed length unchanged', async () => {
    const pairs = Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`${at}`.padEnd(maxKey, '€'), `\t\n${'€'.repeat(510)}`]),
    )
    const { status, headers } = await withPairs(pairs)
    expect(status).toBe(200)
    expect((await app.findLog(headers.get('x-request-id') ?? '')).metadata).toEqual(pairs)
  })
})

test('refuses 17 metadata pairs with 400 in the native format; passes them on without logging in other formats', async () => {
  const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v']))
  const [native, compat] = FORMATS as [FormatCase, FormatCase]
  expect(await rejectionOf(native, { fields: { metadata: pairs } })).toMatch(/^400 .*"param":"metadata"/s)
  const { status, headers } = await call(compat, { fields: { metadata: pairs } })
  expect(status).toBe(200)
  expect((await app.findLog(headers.get('x-request-id') ?? '')).metadata).toBeNull()
})

/** Expects a request to be served during an attack. */
async function expectServed(key: string): Promise<void> {
  const served = await app.call('/v1/chat', { model: 'sandbox/echo', messages: TEXT }, { key })
  expect(served.status).toBe(200)
}

/** 32 MB that gzip compresses to a thirtieth. A higher ratio would be refused. */
const LONG_TEXT = Array.from({ length: (32 * 1024 * 1024) / 64 - 4 }, () =>
  randomBytes(1).toString('hex').padEnd(64, 'a'),
).join('')

test.each([
  ['metadata', 'invalid_request', { metadata: { k: LONG_TEXT } }],
  ['text', 'model_not_found', { messages: [{ role: 'user', content: LONG_TEXT }] }],
])(
  'serves other requests while 36 compressed bodies with 32 MB of %s are refused, and keeps small records',
  async (_, code, fields) => {
    const [native] = FORMATS as [FormatCase]
    const packed = gzipSync(JSON.stringify({ ...native.body('nobody/knows'), ...fields }))
    const { key: other } = await app.createKey({})
    const headers = { 'content-encoding': 'gzip' }
    const ids: string[] = []
    for (let at = 0; at < 36; at++) {
      const [attack] = await Promise.all([
        app.call('/v1/chat', packed, { key: clientToken, headers }),
        expectServed(other),
      ])
      const body = await attack.text()
      expect(body.length).toBeLessThan(1000)
      expect(JSON.parse(body)).toMatchObject({ error: { code } })
      ids.push(attack.headers.get('x-request-id') ?? '')
    }
    for (const id of ids) await app.findLog(id)
    const page = await app.manage('GET', `/v1/environments/${app.developmentId}/logs?limit=100`)
    expect(JSON.stringify(page.body).length).toBeLessThan(1_000_000)
    const { rows } = await app.database.pool.query<{ largest: number }>(
      'select max(octet_length(row_to_json(l)::text)) as largest from request_logs l where request_id = any ($1)',
      [ids],
    )
    expect(rows[0]?.largest).toBeLessThan(10_000)
    expect(await (await fetch(`${app.gatewayUrl}/readyz`)).text()).toContain('"ready"')
  },
  300_000,
)

test('leaves one record of a request with any text in the fields that are recorded', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 700 }),
    fc.string({ unit: 'grapheme', maxLength: 700 }),
    fc.constantFrom('', 'sandbox/echo', 'member:a', '\0', HALF, '\\u0000', '"', '__proto__', 'constructor'),
  )
  const asked = fc.record(
    {
      model: fc.oneof(
        fc.constant('sandbox/echo'),
        text.map(name => `sandbox/${name}`),
        text,
      ),
      end_user: text,
      user: text,
      metadata: fc.dictionary(text, text, { maxKeys: 20 }),
    },
    { requiredKeys: ['model'] },
  )
  const formats = FORMATS.filter(format => !isInPath(format))
  const ids: string[] = []
  await fc.assert(
    fc.asyncProperty(asked, fc.constantFrom(...formats), async ({ model, ...fields }, format) => {
      const { status, headers } = await call(format, { model, fields })
      expect(status).toBeLessThan(500)
      ids.push(headers.get('x-request-id') ?? '')
    }),
    { numRuns: 1500 },
  )
  await app.findLog(ids.at(-1) as string)
  const { rows } = await app.database.pool.query<{ count: number }>(
    'select count(*) from request_logs where request_id = any ($1)',
    [ids],
  )
  expect(Number(rows[0]?.count)).toBe(ids.length)
}, 300_000)
