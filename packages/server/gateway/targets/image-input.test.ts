import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** What images reserve: gpt-4o-mini counts up to 48,169 tokens for one, by its tiles, and Claude Opus 5 up to 4,784. */

let limited: LimitedApp

beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'openai')
})
afterEach(() => limited.reset())
afterAll(() => limited.close())

const byAddress = (detail = 'high') => ({ url: 'https://a.example/a.png', detail })

/** The start of a PNG. */
function png(width: number, height: number): { url: string } {
  const head = Buffer.alloc(45)
  head.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 0, 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.write('IDAT', 37, 'latin1')
  return { url: `data:image/png;base64,${head.toString('base64')}` }
}

async function ask(model: string, images: readonly object[], key = limited.app.secretKey) {
  const before = limited.upstream.requests.length
  const content = images.map(image => ({ type: 'image_url', image_url: image }))
  const body = { model, max_tokens: 100, messages: [{ role: 'user', content }] }
  const { status } = await limited.app.call('/openai/v1/chat/completions', body, { key })
  const [sent] = limited.upstream.requests.slice(before)
  return { status, sentTo: sent?.body.model }
}

const limitTokens = (limit: number) =>
  limited.limit('limits', { scope: 'environment', metric: 'tokens', window_seconds: 60, limit })

async function createAlias(...models: string[]): Promise<string> {
  const alias = models.map(model => model.replace('/', '-')).join('.')
  const targets = models.map(model => ({ model }))
  const body = { alias, strategy: 'priority', targets }
  await limited.make(`/v1/environments/${limited.app.developmentId}/model-aliases`, body)
  return alias
}

describe('an image at gpt-4o-mini', () => {
  const MINI = 'openai/gpt-4o-mini'
  const SENT = { sentTo: 'gpt-4o-mini' }
  const REFUSED = { sentTo: undefined }

  test('by its address counts as the largest for a budget and for max_request_cost_usd', async () => {
    // Two at $0.15 a million: $0.01445.
    for (const [usd, outcome] of [
      [0.014, { status: 402, ...REFUSED }],
      [0.016, SENT],
    ] as const) {
      const { key } = await limited.app.createKey({ restrictions: { max_request_cost_usd: usd } })
      expect(await ask(MINI, [byAddress(), byAddress()], key)).toMatchObject(outcome)
      const { key: withBudget } = await limited.freshKey(usd)
      expect(await ask(MINI, [byAddress(), byAddress()], withBudget)).toMatchObject(outcome)
    }
  })

  test('counts less in low detail', async () => {
    const { key } = await limited.freshKey(0.002)
    expect(await ask(MINI, [byAddress('low'), byAddress('low')], key)).toMatchObject(SENT)
  })

  test('in the body counts by its tiles for a limit of tokens, for a budget and for max_request_cost_usd', async () => {
    // 8,500 tokens for one tile, and 25,501 for four.
    const { key } = await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.002 } })
    expect(await ask(MINI, [png(512, 512)], key)).toMatchObject(SENT)
    expect(await ask(MINI, [png(1_024, 1_024)], key)).toMatchObject({ status: 402, ...REFUSED })
    const { key: withBudget } = await limited.freshKey(0.002)
    expect(await ask(MINI, [png(1_024, 1_024)], withBudget)).toMatchObject({ status: 402, ...REFUSED })
    expect(await ask(MINI, [png(512, 512)], withBudget)).toMatchObject(SENT)
    await limitTokens(10_000)
    expect(await ask(MINI, [png(1_024, 1_024)])).toMatchObject({ status: 429, ...REFUSED })
    expect(await ask(MINI, [png(512, 512)])).toMatchObject(SENT)
  })
})

describe('the images of a request to an alias', () => {
  test('are priced at each target by what that target counts, so that a dear one is kept', async () => {
    const alias = await createAlias('openai/gpt-4o', 'openai/gpt-4o-mini')
    // 48,169 tokens cost $0.0072 at the second target; at the first they would cost $0.12, and 1,600 cost $0.004.
    const { key } = await limited.freshKey(0.02)
    expect(await ask(alias, [byAddress()], key)).toMatchObject({ sentTo: 'gpt-4o' })
  })

  test('count no more for a target that is left out', async () => {
    const alias = await createAlias('anthropic/claude-opus-5', 'anthropic/claude-haiku-4-5')
    // Three have 14,352 tokens at the first target and 4,800 at the second.
    await limitTokens(10_000)
    expect(await ask(alias, [byAddress(), byAddress(), byAddress()])).toMatchObject({
      sentTo: 'claude-haiku-4-5',
    })
  })
})
