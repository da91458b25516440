import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { json, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
  for (const provider of ['openai', 'gemini', 'xai']) {
    await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

const GENERATIONS = '/openai/v1/images/generations'
const made = json(200, { created: 1, data: [{ b64_json: 'QUJD' }] })
const withUsage = json(200, {
  created: 1,
  data: [{ b64_json: 'QUJD' }],
  usage: {
    input_tokens: 10,
    input_tokens_details: { text_tokens: 10, image_tokens: 0 },
    output_tokens: 272,
    total_tokens: 282,
  },
})

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code: string } }
  return body.error?.code ?? 'ok'
}

describe('a budget', () => {
  test('reserves the price of each image and settles the images that were made', async () => {
    const { key, budget } = await limited.freshKey(0.2)
    let release: () => void = () => {}
    const open = new Promise<void>(resolve => {
      release = resolve
    })
    let called: () => void = () => {}
    const calling = new Promise<void>(resolve => {
      called = resolve
    })
    upstream.script(async (res, seen) => {
      called()
      await open
      await made(res, seen)
    })
    const ask = { model: 'openai/dall-e-2', prompt: 'a fox', n: 6 }
    const first = app.call(GENERATIONS, ask, { key })
    await calling
    expect(await budget()).toMatchObject({ spent_usd: 0, reserved_usd: 0.12 })
    const second = await app.call(GENERATIONS, ask, { key })
    expect([second.status, await codeOf(second)]).toEqual([402, 'budget_exceeded'])
    release()
    expect((await first).status).toBe(200)
    // One of the six was made.
    expect(await budget()).toMatchObject({ spent_usd: 0.02, reserved_usd: 0 })
  })

  test('reserves the most that tokens may cost and settles the tokens used', async () => {
    const { key, budget } = await limited.freshKey(0.02)
    upstream.script(withUsage)
    const ask = { model: 'openai/gpt-image-1', prompt: 'a fox', size: '1024x1024' }
    expect(await codeOf(await app.call(GENERATIONS, ask, { key }))).toBe('budget_exceeded')
    const low = await app.call(GENERATIONS, { ...ask, quality: 'low' }, { key })
    expect(low.status).toBe(200)
    // 10 tokens at $5 and 272 at $40 per million.
    expect(await budget()).toMatchObject({ spent_usd: 0.01093, reserved_usd: 0 })
  })

  test('settles the maximum as an estimate if tokens are priced and the provider reports none', async () => {
    const { key, budget } = await limited.freshKey(1)
    upstream.script(made)
    const ask = { model: 'openai/gpt-image-1', prompt: 'a fox', size: '1024x1024', quality: 'low' }
    const response = await app.call(GENERATIONS, ask, { key })
    expect(response.status).toBe(200)
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log.usage_estimated).toBe(true)
    expect(log.cost_usd).toBeGreaterThan(0.01088)
    expect((await budget()).spent_usd).toBe(log.cost_usd)
  })

  test('refuses images of unknown cost with 400 model_unpriced', async () => {
    const { key } = await limited.freshKey(100)
    const before = upstream.requests.length
    const response = await app.call(
      GENERATIONS,
      { model: 'xai/grok-imagine-image', prompt: 'a fox' },
      { key },
    )
    expect([response.status, await codeOf(response)]).toEqual([400, 'model_unpriced'])
    expect(upstream.requests).toHaveLength(before)
  })

  test('releases its reservation if the provider fails', async () => {
    const { key, budget } = await limited.freshKey(1)
    upstream.script(json(400, { error: { message: 'no', code: 'bad' } }))
    const response = await app.call(GENERATIONS, { model: 'openai/dall-e-3', prompt: 'a fox' }, { key })
    expect(response.status).toBe(400)
    expect(await budget()).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
  })
})

test('names dropped parameters in a header if unsupported_params is drop', async () => {
  const environment = `/v1/environments/${app.developmentId}`
  await app.manage('PATCH', environment, { unsupported_params: 'drop' })
  try {
    upstream.script(
      json(200, {
        candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }] } }],
      }),
    )
    const response = await app.call(GENERATIONS, {
      model: 'gemini/gemini-2.5-flash-image',
      prompt: 'a fox',
      quality: 'high',
      size: '1000x100',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-rideau-dropped-params')?.split(', ').sort()).toEqual(['quality', 'size'])
    expect(upstream.requests.at(-1)?.body.generationConfig).toEqual({ responseModalities: ['IMAGE'] })
  } finally {
    await app.manage('PATCH', environment, { unsupported_params: 'refuse' })
  }
})
