import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['groq', 'custom-one', 'custom-two', 'deepseek'])
    await app.addCredential(provider, { api_key: 'sk', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

async function readMetrics(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${app.metricsUrl}/metrics`)).text()
  const lines = text.split('\n').filter(line => line.startsWith('rideau_provider_'))
  return new Map(
    lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )
}

async function chat(model: string, fields: Record<string, unknown> = {}): Promise<number> {
  const messages = [{ role: 'user', content: 'hi' }]
  const response = await app.call('/openai/v1/chat/completions', { model, messages, ...fields })
  await response.text()
  return response.status
}

test('counts attempts, latency, tokens and cost of plain answers and streams by provider', async () => {
  const model = 'groq/llama-3.3-70b-versatile'
  upstream.script(json(503, {}), completion('hello'))
  expect(await chat(model)).toBe(200)
  upstream.script(streamedCompletion('hello'))
  expect(await chat(model, { stream: true })).toBe(200)
  const metrics = await readMetrics()
  const of = (name: string, labels = ''): number | undefined =>
    metrics.get(`rideau_provider_${name}{provider="groq"${labels}}`)
  expect(of('attempts_total', ',outcome="success"')).toBe(2)
  expect(of('attempts_total', ',outcome="unavailable"')).toBe(1)
  expect(of('attempts_total', ',outcome="timeout"')).toBe(0)
  expect(of('latency_seconds_count', ',stream="false"')).toBe(1)
  expect(of('latency_seconds_count', ',stream="true"')).toBe(1)
  expect(of('latency_seconds_bucket', ',stream="true",le="120"')).toBe(1)
  expect(of('input_tokens_total')).toBe(24)
  expect(of('output_tokens_total')).toBe(6)
  // 0.59 and 0.79 dollars for a million tokens.
  expect(of('cost_usd_total')).toBeCloseTo((24 * 0.59 + 6 * 0.79) / 1e6, 9)
})

test('counts all providers that tenants name as custom', async () => {
  upstream.script(completion('hello'))
  await chat('custom-one/m')
  await chat('custom-two/m')
  const metrics = await readMetrics()
  expect(metrics.get('rideau_provider_attempts_total{provider="custom",outcome="success"}')).toBe(2)
  expect([...metrics.keys()].join()).not.toContain('custom-')
})

test('counts an attempt whose caller left as canceled, and what its provider charges', async () => {
  const gone = new AbortController()
  upstream.script(() => gone.abort())
  const calling = fetch(`${app.gatewayUrl}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${app.secretKey}` },
    body: JSON.stringify({ model: 'deepseek/deepseek-chat', messages: [{ role: 'user', content: 'hi' }] }),
    signal: gone.signal,
  })
  await expect(calling).rejects.toThrow('aborted')
  const find = async (name: string) => (await readMetrics()).get(`rideau_provider_${name}`)
  await expect.poll(() => find('attempts_total{provider="deepseek",outcome="canceled"}')).toBe(1)
  await expect.poll(() => find('input_tokens_total{provider="deepseek"}')).toBeGreaterThan(0)
  expect(await find('latency_seconds_count{provider="deepseek",stream="false"}')).toBe(0)
})
