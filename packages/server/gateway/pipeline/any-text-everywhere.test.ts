import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, type UpstreamRequestSeen } from '../../testing/fakes/scripted-upstream.ts'
import {
  type AnyRequest,
  anyPathRequest,
  listChatRequests,
  listFormRequests,
  listOtherRequests,
  MODELS,
  TARGETS,
} from '../../testing/harness/any-request.ts'
import { TEXT_RUNS, TEXT_SEED, TEXT_TIMEOUT_MS } from '../../testing/harness/any-text.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'

/**
 * Any text in any field, form, header, query and path of every route: it is answered, nothing but the authorized models is called,
 * and each request of a model leaves a record that is stored as it is.
 */

let harness: FormatHarness
/** A secret key for those models and no others. */
let bounded: string

beforeAll(async () => {
  harness = await openFormatHarness()
  bounded = (await harness.app.createKey({ restrictions: { allowed_models: MODELS } })).key
  await harness.set({ unsupported_params: 'drop', allow_client_passthrough: true })
})
afterAll(() => harness.close())

async function write({ method, path, headers, body }: AnyRequest): Promise<string> {
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
      anyPathRequest(),
    )
    const weighted = fc.oneof(
      { weight: 8, arbitrary: requests },
      ...listFormRequests(),
      anyPathRequest(),
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
