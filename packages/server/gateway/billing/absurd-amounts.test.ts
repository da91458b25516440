import { afterAll, beforeAll, expect, test } from 'vitest'
import { completion, json } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** Amounts that a caller or a tenant's own provider names, and that no column holds: every request is stored with a cost. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
  const { app } = harness
  const models = `/v1/environments/${app.developmentId}/custom-models`
  const dear = { input_usd_per_mtok: 1_000_000, output_usd_per_mtok: 1_000_000 }
  const usual = { input_usd_per_mtok: 3, output_usd_per_mtok: 15 }
  for (const fields of [
    { model: 'groq/dear', context_window: 100_000_000, pricing: dear },
    { model: 'groq/unbounded', pricing: usual },
  ]) {
    const { status } = await app.manage('POST', models, { capabilities: ['chat'], ...fields })
    if (status !== 201) throw new Error(`no custom model: ${status}`)
  }
})
afterAll(() => harness.close())

const ASK = { messages: [{ role: 'user', content: 'hi' }] }
/** 2^53 - 1 nano-dollars. */
const MAX_USD = Number.MAX_SAFE_INTEGER / 1e9

async function findLogOf(response: Response) {
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  return await harness.app.findLog(response.headers.get('x-request-id') as string)
}

async function transcribe(model: string): Promise<Response> {
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([`ID3${'\0'.repeat(2_000)}`], { type: 'audio/mpeg' }), 'a.mp3')
  const headers = { authorization: `Bearer ${harness.app.secretKey}` }
  const init = { method: 'POST', headers, body: form }
  return await fetch(`${harness.app.gatewayUrl}/openai/v1/audio/transcriptions`, init)
}

test.each([
  ['groq/whisper-large-v3', { text: 'x', duration: 1e308 }],
  ['groq/whisper-large-v3', { text: 'x', usage: { type: 'duration', seconds: 9e15 } }],
  ['openai/gpt-4o-transcribe', { text: 'x', usage: { input_tokens: 9e15, output_tokens: 9e15 } }],
])('bills a transcript of %s at its maximum if its provider reports %j', async (model, answer) => {
  harness.upstream.script(json(200, answer))
  const log = await findLogOf(await transcribe(model))
  expect(log.usage_estimated).toBe(true)
  expect(log.cost_usd).toBeGreaterThan(0)
  expect(log.cost_usd).toBeLessThan(0.01)
})

test.each([9e15, 9e12, 20_000_001])(
  'bills an image at its maximum if its provider reports %d tokens',
  async tokens => {
    harness.upstream.script(
      json(200, {
        created: 1,
        data: [{ b64_json: 'QUJD' }],
        usage: { input_tokens: 1, output_tokens: tokens },
      }),
    )
    const body = { model: 'openai/gpt-image-1', prompt: 'a fox' }
    const log = await findLogOf(await harness.app.call('/openai/v1/images/generations', body))
    expect(log.usage_estimated).toBe(true)
    expect(log.cost_usd).toBeGreaterThan(0)
    expect(log.cost_usd).toBeLessThan(1)
  },
)

test('stores a cost that a number cannot hold at the largest exact one, and counts it', async () => {
  const { app, upstream } = harness
  const usage = { prompt_tokens: 1e8, completion_tokens: 1e8, total_tokens: 2e8 }
  upstream.script(completion('x', { usage }))
  for (let sent = 0; sent < 3; sent++) {
    const log = await findLogOf(await app.call('/openai/v1/chat/completions', { model: 'groq/dear', ...ASK }))
    expect(log.cost_usd).toBeCloseTo(MAX_USD)
  }
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const total = await app.manage('GET', `/v1/orgs/${app.orgId}/usage?from=${from}&granularity=total`)
  expect(total.status).toBe(200)
  expect(total.body.data[0].cost_usd).toBeGreaterThan(2.9 * MAX_USD)
  // A new counter is seeded with more than a number holds.
  const budget = { limit_usd: 1_000_000, window: 'month' }
  const made = await app.manage('POST', `/v1/orgs/${app.orgId}/budgets`, budget)
  expect(made.status).toBe(201)
  const refused = await app.call('/openai/v1/chat/completions', { model: 'groq/dear', ...ASK })
  const { error } = (await refused.json()) as { error: { code: string } }
  expect(error.code).toBe('budget_exceeded')
  expect((await app.manage('DELETE', `/v1/budgets/${made.body.id}`)).status).toBe(204)
})

test.each([9e15, 9e13, 3e9, 1e300])(
  'stores a request of a client token that names a maximum of %d tokens',
  async max_tokens => {
    const { app, upstream, token } = harness
    const limit = {
      scope: 'environment',
      metric: 'tokens',
      limit: Number.MAX_SAFE_INTEGER,
      window_seconds: 60,
    }
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/limits`, limit)
    expect(made.status).toBe(201)
    upstream.script(completion('x'))
    const body = { model: 'groq/unbounded', max_tokens, ...ASK }
    const log = await findLogOf(await app.call('/openai/v1/chat/completions', body, { key: token }))
    expect(log.hold.cost_usd).toBeLessThanOrEqual(MAX_USD)
    expect(log.cost_usd).toBe(0.000081)
    expect((await app.manage('DELETE', `/v1/limits/${made.body.id}`)).status).toBe(204)
  },
)
