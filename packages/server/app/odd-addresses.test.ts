import { Agent, request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'

/**
 * Odd spellings of paths, and headers by which proxies rewrite addresses: a request does what its credential may do by the
 * path as it was sent, or nothing.
 */

let app: TestApp
const agent = new Agent({ keepAlive: true, maxSockets: 16 })
/** Keys of the gateway that may call one kind of endpoint each. */
const keys: Record<string, string> = {}
/** A key of the control plane that may only read. */
let viewer: string

beforeAll(async () => {
  app = await openTestApp()
  for (const endpoint of ['chat', 'embeddings'])
    keys[endpoint] = (await app.createKey({ restrictions: { allowed_endpoints: [endpoint] } })).key
  viewer = await createViewerKey()
})

/** Only an owner makes management keys, which the one of the set-up is not. */
async function createViewerKey(): Promise<string> {
  const asked = { 'content-type': 'application/json', origin: app.controlUrl, 'x-rideau-csrf': '1' }
  const post = (route: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(app.controlUrl + route, {
      method: 'POST',
      headers: { ...asked, ...headers },
      body: JSON.stringify(body),
    })
  const login = { email: 'owner@example.com', password: 'a long enough password' }
  const cookie = (await post('/v1/session', login)).headers.get('set-cookie')?.split(';')[0] ?? ''
  const route = `/v1/orgs/${app.orgId}/management-keys`
  const made = await post(route, { name: 'reads', role: 'viewer' }, { cookie })
  const { key } = (await made.json()) as { key?: string }
  if (key === undefined) throw new Error(`no management key: ${made.status}`)
  return key
}

afterAll(async () => {
  agent.destroy()
  await app.close()
})

interface Sent {
  readonly method: string
  readonly path: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

interface Outcome {
  readonly status: number
  readonly code: string
  readonly text: string
}

function send(url: string, { method, path, key, headers, body }: Sent): Promise<Outcome> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ agent, hostname, port, method, path },
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      },
      response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          text += piece
        })
        response.on('end', () => {
          const code = /"(?:code|reason)": ?"(\w+)"/.exec(text)?.[1] ?? ''
          resolve({ status: response.statusCode ?? 0, code, text })
        })
      },
    )
    sent.on('error', reject)
    sent.end(method === 'GET' ? undefined : JSON.stringify(body))
  })
}

/** Writes some characters of a path in another way, or puts something between its segments. */
const oddities: readonly ((path: string, at: number) => string)[] = [
  path => path,
  (path, at) => {
    const place = at % path.length
    const code = path.charCodeAt(place).toString(16).padStart(2, '0')
    return `${path.slice(0, place)}%${at % 2 === 0 ? code : code.toUpperCase()}${path.slice(place + 1)}`
  },
  (path, at) =>
    insert(path, at, ['/.', '/..', '/%2e', '/%2e%2e', '/%2E.', '/.%2e', '/', '/;', '/%2f', '/%5c..']),
  (path, at) =>
    insert(path, at, ['/x/..', '/x/%2e%2e', '/v1/..', '/openai/..', '/%00/..', '/..;', '/%252e%252e']),
  (path, at) =>
    path +
    (['/', '/.', '/..', '%2f', '%00', ';x', '%20', '.', '%', '%zz', '?', '?a=b', '#a', '\\'][at % 14] ?? ''),
  path => path.toUpperCase(),
  path => path.replaceAll('/', '\\'),
  path => path.replaceAll('/', '%2f').replace('%2f', '/'),
  (path, at) =>
    `${['http://evil.example', 'http://127.0.0.1:1', '//evil.example', '/.//', '/%2f'][at % 5]}${path}`,
  (path, at) => `/v1/models/..${['', '/..', '%2f..', '%2f..%2f..'][at % 4]}${path}`,
]

function insert(path: string, at: number, pieces: readonly string[]): string {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index)
  const place = slashes[at % slashes.length] ?? 0
  return path.slice(0, place) + pieces[Math.floor(at / slashes.length) % pieces.length] + path.slice(place)
}

const anyOddity = fc.array(fc.tuple(fc.constantFrom(...oddities), fc.nat(10_000)), {
  minLength: 1,
  maxLength: 2,
})

const toOdd = (path: string, changes: readonly (readonly [(typeof oddities)[number], number])[]): string =>
  changes.reduce((changed, [change, at]) => change(changed, at), path)

const PATHS = {
  chat: [
    ...['/v1/chat', '/openai/v1/chat/completions', '/openai/v1/responses', '/anthropic/v1/messages'],
    ...['/gemini/v1beta/models/sandbox%2Fecho:generateContent', '/bedrock/model/sandbox%2Fecho/converse'],
    ...['/cohere/v2/chat', '/ollama/api/chat', '/ollama/v1/chat/completions'],
  ],
  embeddings: ['/v1/embeddings', '/openai/v1/embeddings', '/ollama/api/embed'],
} as const

/** Headers by which proxies name another address, or another method. Their values are one of the paths too. */
const anyHeaders = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        ...['host', 'forwarded', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-prefix'],
        ...['x-forwarded-uri', 'x-forwarded-path', 'x-forwarded-for', 'x-original-url', 'x-rewrite-url'],
        ...['x-original-uri', 'x-http-method-override', 'x-method-override', 'x-forwarded-method', 'via'],
      ),
      fc.constantFrom(
        ...['evil.example', 'localhost', '127.0.0.1:8788', 'https', 'GET', 'DELETE', '/', '../..'],
        ...['for=1.1.1.1;host=evil.example;proto=https', '/v1/models', ...PATHS.chat, ...PATHS.embeddings],
      ),
    ),
    { maxLength: 3 },
  )
  .map(pairs => Object.fromEntries(pairs))

/** A body that every route of its kind takes. Fields that one does not know make it refuse the request after its rights. */
const BODIES = {
  chat: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 },
  embeddings: { model: 'sandbox/embed', input: 'hi' },
} as const

const RUNS = { numRuns: 60 }
/** Requests of one run, which are sent together. */
const BATCH = 20

const anyRequest = fc.record({
  kind: fc.constantFrom('chat', 'embeddings'),
  at: fc.nat(100),
  changes: anyOddity,
  headers: anyHeaders,
})

describe('the gateway', () => {
  test('serves no odd path to a key without the right of its route, whatever the headers say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: BATCH, maxLength: BATCH }), async batch => {
        await Promise.all(
          batch.map(async ({ kind, at, changes, headers }) => {
            const paths = PATHS[kind as keyof typeof PATHS]
            const path = toOdd(paths[at % paths.length] ?? '', changes)
            const other = kind === 'chat' ? 'embeddings' : 'chat'
            const asked = { method: 'POST', path, key: keys[other] ?? '', body: BODIES[kind as 'chat'] }
            const plain = await send(app.gatewayUrl, { ...asked, headers: {} })
            const { status, code } = await send(app.gatewayUrl, { ...asked, headers })
            expect([path, headers, status, code]).toEqual([path, headers, plain.status, plain.code])
            expect([path, status]).toEqual([
              path,
              expect.toSatisfy((each: number) => each >= 400 && each < 500),
            ])
          }),
        )
      }),
      RUNS,
    )
  })

  test('serves a path as it was sent, whatever the headers say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyHeaders, { minLength: 5, maxLength: 5 }), async batch => {
        await Promise.all(
          batch.map(async headers => {
            const sent = { method: 'POST', path: '/v1/embeddings', key: keys.embeddings ?? '', headers }
            const { status, text } = await send(app.gatewayUrl, { ...sent, body: BODIES.embeddings })
            expect([status, text]).toEqual([200, expect.stringContaining('"embedding"')])
          }),
        )
      }),
      { numRuns: 20 },
    )
  })
})

test('the control plane lets a viewer write nothing by an odd path or a header', async () => {
  const count = async (): Promise<number> =>
    (await app.manage('GET', `/v1/environments/${app.developmentId}/keys`)).body.data.length
  const before = await count()
  const writes = [
    ['POST', `/v1/environments/${app.developmentId}/keys`],
    ['PATCH', `/v1/environments/${app.developmentId}`],
    ['POST', `/v1/orgs/${app.orgId}/projects`],
    ['DELETE', `/v1/projects/${app.projectId}`],
  ] as const
  await fc.assert(
    fc.asyncProperty(fc.array(anyRequest, { minLength: BATCH, maxLength: BATCH }), async batch => {
      await Promise.all(
        batch.map(async ({ at, changes, headers }) => {
          const [method = 'POST', path = ''] = writes[at % writes.length] ?? []
          const odd = toOdd(path, changes)
          const body = { kind: 'secret', name: 'odd' }
          const { status } = await send(app.controlUrl, { method, path: odd, key: viewer, headers, body })
          expect([method, odd, headers, status < 400]).toEqual([method, odd, headers, false])
        }),
      )
    }),
    { numRuns: 20 },
  )
  expect(await count()).toBe(before)
  expect((await app.manage('GET', `/v1/projects/${app.projectId}`)).status).toBe(200)
})
