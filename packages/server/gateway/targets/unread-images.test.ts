import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** An image costs input tokens, which are reserved only where the gateway reads it. */

const GENERATIONS = '/openai/v1/images/generations'
const EDITS = '/openai/v1/images/edits'
const ROUTER = { model: 'openrouter/openai/gpt-5-image', prompt: 'p' }
const ADDRESS = 'https://a.example/a.png'
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const REFERENCE = { type: 'image_url', image_url: { url: ADDRESS } }

let limited: LimitedApp
let key: string
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('openai', 'openrouter')
  key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 3 } })).key
})
afterAll(() => limited.close())

function ask(route: string, body: object) {
  limited.upstream.script(json(200, { created: 1, data: [{ b64_json: 'QUJD' }] }))
  return limited.ask(route, body, key)
}

const FIELDS: [string, unknown][] = [
  ['input_references', [REFERENCE, REFERENCE]],
  ['input_references', JSON.stringify([REFERENCE])],
  ['image_url', ADDRESS],
  ['image', 'iVBORw0KGgo='],
  ['image_urls', [ADDRESS]],
  ['InputReferences', [REFERENCE]],
  ['novelty', { first: [PNG] }],
  ['start', ADDRESS],
  ['start', 'A'.repeat(600)],
  // In lines, as MIME writes it.
  ['start', PNG.slice(PNG.indexOf(',') + 1).replace(/.{8}/g, '$&\n')],
  ['image_weights', ['iVBORw0KGgo=']],
]

describe.each([
  ['a generation', GENERATIONS, ROUTER],
  ['an edit', EDITS, { ...ROUTER, images: [{ image_url: PNG }] }],
])('a field of %s that is not read', (_what, route, body) => {
  test.each(FIELDS)('may have no image: %s', async (name, value) => {
    const answer = await ask(route, { ...body, [name]: value })
    expect(answer).toMatchObject({ status: 400, wasSent: false })
    expect(answer.text).toContain(name)
  })

  test('may have how images are made', async () => {
    const settings = {
      negative_prompt: `no text such as ${ADDRESS}`,
      image_size: '1024x1024',
      image_guidance_scale: 1.5,
      // Forms send numbers and flags as texts.
      image_strength: '0.35',
      use_reference_image: 'false',
      sequential_image_generation: 'disabled',
      style_prompt: '模糊的，低质量的'.repeat(70),
      seed: 7,
    }
    expect(await ask(route, { ...body, ...settings })).toMatchObject({ wasSent: true })
  })
})
