import type { ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../testing/fakes/scripted-upstream.ts'
import { openTraceCollector, type TraceCollector } from '../testing/fakes/trace-collector.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../testing/harness/app.ts'
import { freePort } from '../testing/harness/free-port.ts'

/** What a collector does, or does not, never harms requests. */
let upstream: ScriptedUpstream
let collector: TraceCollector
let app: TestApp | undefined
const lines: string[] = []
beforeAll(async () => {
  upstream = await openScriptedUpstream()
  upstream.script(completion('Hello.'))
})
afterEach(async () => {
  await app?.close()
  await collector.close()
  lines.length = 0
})
afterAll(() => upstream.close())

const SECRET = 'a-secret-of-the-collector'

async function openTraced(env: Record<string, string> = {}): Promise<TestApp> {
  collector = await openTraceCollector()
  app = await openTestApp(
    {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/traces`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      LOG_LEVEL: 'warn',
      ...env,
    },
    TEST_OVERRIDES,
    { write: line => void lines.push(line) },
  )
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
  return app
}

async function chat(traced: TestApp): Promise<string> {
  const messages = [{ role: 'user', content: 'hi' }]
  const response = await traced.call('/v1/chat', { model: 'custom/m', messages })
  expect(response.status).toBe(200)
  await response.text()
  return response.headers.get('x-request-id') ?? ''
}

/** Reads `/metrics` until the count is there. */
async function countSpans({ metricsUrl }: TestApp, outcome: string, least = 1): Promise<number> {
  const pattern = new RegExp(`rideau_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)`)
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text()
    const count = Number(pattern.exec(text)?.[1] ?? Number.NaN)
    if (count >= least) return count
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`no ${least} spans ${outcome} in 10 s`)
}

test('spans that the collector takes are counted', async () => {
  const traced = await openTraced()
  await collector.trace(await chat(traced))
  expect(await countSpans(traced, 'exported', 5)).toBe(5)
  expect(collector.requests[0]).toMatchObject({
    path: '/traces',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
  })
})

test.each<[string, (res: ServerResponse) => void]>([
  ['is silent', () => {}],
  ['refuses', res => void res.writeHead(403, SECRET).end(SECRET.repeat(10))],
  ['closes the connection', res => void res.destroy()],
  ['answers without an end', res => void res.writeHead(200).write('{')],
  ['answers 5 MiB', res => void res.writeHead(200).end(Buffer.alloc(5 * 1024 * 1024))],
])('a collector that %s: requests are served, and its spans are counted as failed', async (_, respond) => {
  const traced = await openTraced()
  collector.answer(respond)
  await chat(traced)
  await collector.until(1)
  await chat(traced)
  expect(await countSpans(traced, 'failed')).toBeGreaterThan(0)
  const told = lines.filter(line => line.includes('traces cannot be exported'))
  expect(told).toHaveLength(1)
  expect(lines.join('')).not.toContain(`Bearer ${SECRET}`)
})

test('a collector that is gone: requests are served, and the app closes', async () => {
  const traced = await openTraced({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  })
  await chat(traced)
  expect(await countSpans(traced, 'failed')).toBeGreaterThan(0)
})

test('spans that find the queue full are dropped and counted', async () => {
  const traced = await openTraced({
    OTEL_BSP_MAX_QUEUE_SIZE: '2',
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
    OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
  })
  collector.answer(() => {})
  await chat(traced)
  await chat(traced)
  // Two of ten are being sent, two wait.
  expect(await countSpans(traced, 'dropped', 6)).toBe(6)
})

test('the last spans are sent when the app closes', async () => {
  const traced = await openTraced({ OTEL_BSP_SCHEDULE_DELAY: '3600000' })
  await chat(traced)
  expect(collector.requests).toHaveLength(0)
  await traced.stop()
  expect(collector.spans.map(({ name }) => name)).toContain('POST /v1/chat')
})

test('the end of the app does not wait until the exporter to a silent collector gives up', async () => {
  const traced = await openTraced({
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    OTEL_BSP_EXPORT_TIMEOUT: '600000',
    OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
  })
  collector.answer(() => {})
  await chat(traced)
  // Within the time that a test has, which is shorter than the exporter's own timeouts.
  await traced.stop()
  expect(collector.requests).toHaveLength(1)
})

test('sends protobuf by default, compressed if asked for', async () => {
  const traced = await openTraced({
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  })
  await chat(traced)
  await collector.until(1)
  const [sent] = collector.requests
  expect(sent?.headers).toMatchObject({
    'content-type': 'application/x-protobuf',
    'content-encoding': 'gzip',
  })
  expect(gunzipSync(sent?.body as Buffer).toString('latin1')).toContain('POST /v1/chat')
})

test.each([
  ['no address', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' }],
  ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true' }],
  ['OTEL_TRACES_EXPORTER=none', { OTEL_TRACES_EXPORTER: 'none' }],
])('without traces (%s) no traceparent goes to a provider, a caller’s neither', async (_, env) => {
  const traced = await openTraced(env)
  const messages = [{ role: 'user', content: 'hi' }]
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const headers = { traceparent, tracestate: 'a=b', baggage: 'c=d' }
  await (await traced.call('/v1/chat', { model: 'custom/m', messages }, { headers })).text()
  const sent = upstream.requests.at(-1)?.headers
  for (const name of Object.keys(headers)) expect(sent).not.toHaveProperty(name)
  const metrics = await (await fetch(`${traced.metricsUrl}/metrics`)).text()
  expect(metrics).toContain('rideau_requests_total')
  expect(metrics).not.toContain('rideau_trace_spans_total')
  await traced.stop()
  expect(collector.requests).toHaveLength(0)
})

test('OTEL_PROPAGATORS=none: a new trace, and no traceparent for the provider', async () => {
  const traced = await openTraced({ OTEL_PROPAGATORS: 'none' })
  const messages = [{ role: 'user', content: 'hi' }]
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
  const response = await traced.call(
    '/v1/chat',
    { model: 'custom/m', messages },
    { headers: { traceparent } },
  )
  await response.text()
  const spans = await collector.trace(response.headers.get('x-request-id') ?? '')
  expect(spans).toHaveLength(5)
  expect(upstream.requests.at(-1)?.headers).not.toHaveProperty('traceparent')
})

test('OTEL_TRACES_SAMPLER=always_off: no span, whatever the caller says', async () => {
  const traced = await openTraced({ OTEL_TRACES_SAMPLER: 'always_off' })
  await chat(traced)
  expect(upstream.requests.at(-1)?.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  await traced.stop()
  expect(collector.requests).toHaveLength(0)
})
