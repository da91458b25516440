import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, type UpstreamRequestSeen } from '../../testing/fakes/scripted-upstream.ts'
import { anyForm } from '../../testing/harness/any-form.ts'
import { anyText, TEXT_RUNS, TEXT_SEED, TEXT_TIMEOUT_MS, toUrlText } from '../../testing/harness/any-text.ts'
import { FORM_REQUESTS, TRANSCRIBERS } from '../../testing/harness/form-requests.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { FORMAT_REQUESTS, toFormatRequest } from '../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/**
 * Any text in any field, form, header, query and path of every route: it is answered, nothing but the authorized models is called,
 * and each request of a model leaves a record that is stored as it is.
 */

let harness: FormatHarness
/** A secret key for the models below and no others. */
let bounded: string

const TARGETS = Object.entries(FORMAT_TARGETS)
const SANDBOX = 'sandbox/echo'
const EMBEDDING = 'openai/text-embedding-3-small'
const IMAGE = 'openai/gpt-image-1'
const COMPACT = 'openai/gpt-5.4'
const SPEECH = 'openai/gpt-4o-mini-tts'
const RERANK = 'cohere/rerank-v3.5'
const MODELS = [
  ...TARGETS.map(([, [model]]) => model),
  SANDBOX,
  EMBEDDING,
  IMAGE,
  COMPACT,
  SPEECH,
  RERANK,
  ...TRANSCRIBERS,
  'sandbox/embed',
  'sandbox/image',
]

beforeAll(async () => {
  harness = await openFormatHarness()
  bounded = (await harness.app.createKey({ restrictions: { allowed_models: MODELS } })).key
  await harness.set({ unsupported_params: 'drop', allow_client_passthrough: true })
})
afterAll(() => harness.close())

/** A request as it is written to the connection, in Latin-1. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** Whether the route leaves a record for every request that is not refused at the door. */
  readonly isMetered: boolean
}

const JSON_TYPE = ['content-type', 'application/json'] as const
/** Marks the place of the text within JSON. */
const SLOT = '\u0001slot'

/** Returns every JSON text in which one string, or the name of one field, is replaced by the slot. */
function listSlots(value: unknown): string[] {
  const found: string[] = []
  const visit = (each: unknown, put: (other: unknown) => unknown): void => {
    if (typeof each === 'string') found.push(JSON.stringify(put(SLOT)))
    else if (Array.isArray(each)) {
      for (const [at, part] of each.entries()) visit(part, other => put(each.with(at, other)))
    } else if (typeof each === 'object' && each !== null) {
      found.push(JSON.stringify(put({ ...each, [SLOT]: 'x' })))
      for (const [name, part] of Object.entries(each)) {
        const { [name]: _, ...others } = each as Record<string, unknown>
        found.push(JSON.stringify(put({ ...others, [SLOT]: part })))
        visit(part, other => put({ ...each, [name]: other }))
      }
    }
  }
  visit(value, other => other)
  return found
}

const fill = (slotted: string, text: string): string =>
  Buffer.from(
    slotted.replace(JSON.stringify(SLOT), () => JSON.stringify(text)),
    'utf8',
  ).toString('latin1')

/** Fields with texts besides those of the smallest request. */
const MORE: Readonly<Record<string, Record<string, unknown>>> = {
  native: {
    metadata: { a: 'b' },
    user: 'u',
    stop: ['s'],
    tool_choice: 'auto',
    provider_options: { groq: { user: 'x' } },
  },
  'openai-chat': {
    metadata: { a: 'b' },
    user: 'u',
    stop: ['s'],
    response_format: { type: 'text' },
    service_tier: 'auto',
  },
  'openai-responses': {
    metadata: { a: 'b' },
    user: 'u',
    instructions: 'i',
    previous_response_id: 'r',
    include: ['x'],
  },
  'anthropic-messages': {
    metadata: { user_id: 'u' },
    system: 's',
    stop_sequences: ['s'],
    service_tier: 'auto',
  },
  'gemini-content': { labels: { a: 'b' }, cachedContent: 'c', systemInstruction: { parts: [{ text: 's' }] } },
  'bedrock-converse': {
    requestMetadata: { a: 'b' },
    system: [{ text: 's' }],
    performanceConfig: { latency: 'standard' },
  },
  'cohere-v2': { stop_sequences: ['s'], safety_mode: 'OFF', documents: ['d'] },
  'ollama-chat': { format: 'json', keep_alive: '5m', think: 'low' },
}

function listChatRequests(): fc.Arbitrary<Sent>[] {
  return Object.entries(FORMAT_REQUESTS).flatMap(([format, { tools }]) =>
    [SANDBOX, ...TARGETS.map(([, [model]]) => model)].map(model => {
      const { route, body } = toFormatRequest(format, model, { ...tools, ...MORE[format] })
      const slots = [
        body,
        ...(model === SANDBOX && 'model' in body ? [{ ...body, stream: true }] : []),
      ].flatMap(listSlots)
      return fc.tuple(fc.constantFrom(...slots), anyText, headersOf()).map(([slotted, text, headers]) => ({
        ...{
          method: 'POST',
          path: route,
          headers: [JSON_TYPE, ...headers],
          body: fill(slotted, text),
          isMetered: true,
        },
      }))
    }),
  )
}

const OTHERS: readonly (readonly [route: string, body: object, isMetered: boolean])[] = [
  [
    '/v1/embeddings',
    { model: EMBEDDING, input: ['a', 'b'], encoding_format: 'float', metadata: { a: 'b' } },
    true,
  ],
  ['/openai/v1/embeddings', { model: 'sandbox/embed', input: 'a', user: 'u' }, true],
  [
    '/openai/v1/images/generations',
    { model: IMAGE, prompt: 'p', size: '1024x1024', quality: 'low', user: 'u' },
    true,
  ],
  [
    '/openai/v1/images/generations',
    { model: 'sandbox/image', prompt: 'p', response_format: 'b64_json' },
    true,
  ],
  [
    '/anthropic/v1/messages/count_tokens',
    { model: SANDBOX, messages: [{ role: 'user', content: 'hi' }], system: 's' },
    true,
  ],
  [
    `/gemini/v1beta/models/${encodeURIComponent(SANDBOX)}:countTokens`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    true,
  ],
  [
    '/openai/v1/responses/compact',
    { model: COMPACT, input: [{ role: 'user', content: 'hi' }], instructions: 'i', prompt_cache_key: 'k' },
    true,
  ],
  ['/openai/v1/audio/speech', { model: SPEECH, input: 'a', voice: 'alloy', instructions: 'i' }, true],
  ['/cohere/v2/rerank', { model: RERANK, query: 'q', documents: ['a', 'b'] }, true],
  [
    '/v1/feedback',
    { request_id: '018f3b2e-0000-7000-8000-000000000000', score: 1, comment: 'c', tags: ['t'] },
    false,
  ],
  ['/ollama/api/show', { model: SANDBOX, name: 'x' }, false],
]

function listOtherRequests(): fc.Arbitrary<Sent>[] {
  return OTHERS.map(([path, body, isMetered]) =>
    fc.tuple(fc.constantFrom(...listSlots(body)), anyText, headersOf()).map(([slotted, text, headers]) => ({
      ...{ method: 'POST', path, headers: [JSON_TYPE, ...headers], body: fill(slotted, text), isMetered },
    })),
  )
}

function listFormRequests(): fc.Arbitrary<Sent>[] {
  return FORM_REQUESTS.map(([path, parts]) =>
    fc.tuple(anyForm(parts), headersOf()).map(([{ contentType, body }, headers]) => ({
      ...{ method: 'POST', path, headers: [['content-type', contentType] as const, ...headers] },
      ...{ body, isMetered: true },
    })),
  )
}

const HEADERS = [
  ...[
    'x-request-id',
    'x-rideau-end-user',
    'origin',
    'anthropic-beta',
    'anthropic-version',
    'x-goog-api-client',
  ],
  ...[
    'openai-organization',
    'idempotency-key',
    'x-forwarded-for',
    'user-agent',
    'accept',
    'accept-encoding',
    'cookie',
  ],
]
/** What may be in a header: no line ends. */
const headerText = fc.oneof(
  fc
    .array(fc.integer({ min: 0x20, max: 0xff }), { maxLength: 60 })
    .map(bytes => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('', '__proto__', 'constructor', 'member:1', 'device:1', 'x'.repeat(2_000), 'ÿ'.repeat(600)),
)

function headersOf(): fc.Arbitrary<(readonly [string, string])[]> {
  return fc.array(fc.tuple(fc.constantFrom(...HEADERS), headerText), { maxLength: 2 })
}

const PATHS = [
  ['GET', '/v1/models/'],
  ['GET', '/openai/v1/models/'],
  ['GET', '/anthropic/v1/models/'],
  ['GET', '/gemini/v1beta/models/'],
  ['POST', '/v1/requests/'],
  ['POST', '/gemini/v1beta/models/'],
  ['POST', '/bedrock/model/'],
] as const
const ENDS = ['', '/cancel', ':generateContent', ':countTokens', '/converse', '/converse-stream']

function pathRequest(): fc.Arbitrary<Sent> {
  const text = anyText.map(each => toUrlText(each.slice(0, 400)))
  const query = fc.tuple(fc.constantFrom('key', 'alt', 'limit', 'after_id', 'pageToken', 'a'), text)
  return fc
    .tuple(
      fc.constantFrom(...PATHS),
      text,
      fc.constantFrom(...ENDS),
      fc.array(query, { maxLength: 2 }),
      headersOf(),
    )
    .map(([[method, before], name, end, queries, headers]) => {
      const asked = queries.map(pair => pair.join('=')).join('&')
      const body = method === 'GET' ? '' : '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
      const path = `${before}${name}${end}${asked === '' ? '' : `?${asked}`}`
      return { method, path, headers: [JSON_TYPE, ...headers], body, isMetered: false }
    })
}

async function write({ method, path, headers, body }: Sent): Promise<string> {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bounded}\r\n${lines}`
  const raw = await openRaw(harness.app.gatewayUrl)
  const closed = new Promise<void>(resolve => raw.socket.once('close', () => resolve()))
  raw.socket.write(
    Buffer.from(`${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'latin1'),
  )
  await closed
  return raw.text()
}

/** What each provider may be asked for: its own names of the authorized models. */
const NATIVE = new Set(MODELS.map(model => model.slice(model.indexOf('/') + 1)))

/** Returns the models that a request to the provider names, in the body or in the path. Rejects if its form is not one. */
async function listModels({ path, headers, bytes, body }: UpstreamRequestSeen): Promise<readonly string[]> {
  const type = headers['content-type'] ?? ''
  if (type.startsWith('multipart/')) {
    const form = await new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } }).formData()
    const names = [...form.keys()].filter(name => /^model\b/i.test(name.normalize('NFKC').trim()))
    return names.flatMap(name => form.getAll(name)).map(String)
  }
  const named = /\/models?\/([^/:]+(?::\d+)?)/.exec(decodeURIComponent(path))?.[1]
  return [typeof body.model === 'string' ? body.model : (named ?? `no model in ${path}`)]
}

/** Answers in the format of the path that is called. */
function scriptAnswers(): void {
  const { upstream } = harness
  const answers = Object.fromEntries(TARGETS.map(([format, [, answer]]) => [format, answer]))
  const embedding = json(200, {
    data: [
      { index: 0, embedding: [1] },
      { index: 1, embedding: [1] },
    ],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  })
  const compacted = json(200, {
    id: 'r',
    object: 'response.compaction',
    output: [{ type: 'compaction', id: 'c', encrypted_content: 'e' }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  })
  const reranked = json(200, {
    id: 'r',
    results: [{ index: 0, relevance_score: 0.9 }],
    meta: { billed_units: { search_units: 1 } },
  })
  const heard = json(200, { text: 'hi', duration: 1, segments: [{ start: 0, end: 1, text: 'hi' }] })
  upstream.script((res, seen) => {
    const { path } = seen
    const of = (format: string): void => void answers[format]?.(res, seen)
    if (path.includes('embeddings')) return void embedding(res, seen)
    if (path.includes('images'))
      return void json(200, { created: 1, data: [{ b64_json: 'QUJD' }] })(res, seen)
    if (path.includes('/compact')) return void compacted(res, seen)
    if (path.includes('/rerank')) return void reranked(res, seen)
    if (/\/audio\/trans/.test(path)) return void heard(res, seen)
    if (path.includes('/audio')) return void res.writeHead(200, { 'content-type': 'audio/mpeg' }).end('audio')
    if (path.includes('/responses')) return of('openai-responses')
    if (path.includes('/messages')) return of('anthropic-messages')
    if (path.includes('generateContent')) return of('gemini-content')
    if (path.includes('/converse')) return of('bedrock-converse')
    if (path.includes('/api/chat')) return of('ollama-chat')
    return of(path.endsWith('/chat/completions') ? 'openai-chat' : 'cohere-v2')
  })
}

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(`${harness.app.metricsUrl}/metrics`)).text()
  const lines = text.split('\n').filter(line => line.startsWith(name))
  expect(lines).not.toEqual([])
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

test(
  `any text in any place is answered, calls only authorized models, and leaves a record (seed ${TEXT_SEED})`,
  async () => {
    const { app, upstream } = harness
    scriptAnswers()
    /** The requests that must leave a record, by id. */
    const metered = new Map<string, string>()
    const statuses = new Map<number, number>()
    let seen = 0
    const requests = fc.oneof(
      ...listChatRequests(),
      ...listOtherRequests(),
      ...listFormRequests(),
      pathRequest(),
    )
    const weighted = fc.oneof(
      { weight: 8, arbitrary: requests },
      ...listFormRequests(),
      pathRequest(),
      ...listOtherRequests(),
    )
    await fc.assert(
      fc.asyncProperty(weighted, async request => {
        const text = await write(request)
        const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1])
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect(text).toMatch(/^HTTP\/1\.1 \d{3} /)
        expect(status).not.toBe(500)
        for (; seen < upstream.requests.length; seen++) {
          const called = upstream.requests[seen] as UpstreamRequestSeen
          const models = await listModels(called)
          expect([called.path, models.length, models.filter(model => !NATIVE.has(model))]).toEqual([
            called.path,
            1,
            [],
          ])
        }
        // A header with DEL is no HTTP, so it is refused before a request exists.
        const isHttp = request.headers.every(([, value]) => !value.includes('\x7f'))
        const id = /^x-request-id: (\S+)/im.exec(text)?.[1]
        // The answer of an earlier request, whose record there is.
        const isReplay = /^idempotent-replayed: true\r$/im.test(text)
        if (
          request.isMetered &&
          isHttp &&
          !isReplay &&
          id !== undefined &&
          status !== 401 &&
          status !== 403
        ) {
          metered.set(id, `${status} ${JSON.stringify(request).slice(0, 1_000)}`)
        }
      }),
      { seed: TEXT_SEED, numRuns: TEXT_RUNS },
    )
    const listMissing = async (): Promise<readonly string[]> => {
      const query = 'select distinct request_id from request_logs where request_id = any($1)'
      const { rows } = await app.database.pool.query(query, [[...metered.keys()]])
      const stored = new Set(rows.map(row => row.request_id))
      return [...metered].filter(([id]) => !stored.has(id)).map(([, request]) => request)
    }
    await expect.poll(listMissing, { timeout: 20_000 }).toEqual([])
    expect(metered.size).toBeGreaterThan(TEXT_RUNS / 4)
    for (const name of [
      'rideau_records_set_aside_total',
      'rideau_records_reduced_total',
      'rideau_exceptions_total',
    ]) {
      expect([name, await readMetric(name)]).toEqual([name, 0])
    }
    // Both results occur often.
    expect(Math.min(statuses.get(200) ?? 0, statuses.get(400) ?? 0)).toBeGreaterThan(TEXT_RUNS / 20)
    console.log(`gateway: ${TEXT_RUNS} inputs, seed ${TEXT_SEED}:`, Object.fromEntries(statuses))
  },
  TEXT_TIMEOUT_MS,
)
