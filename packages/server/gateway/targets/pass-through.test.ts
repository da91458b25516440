import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness, PROVIDERS } from '../../testing/harness/format-harness.ts'
import { FORMAT_REQUESTS } from '../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'

/** Provider options and unknown fields cannot set or change what is authorized or priced. */

let harness: FormatHarness
const send: FormatHarness['send'] = (...args) => harness.send(...args)
const set: FormatHarness['set'] = fields => harness.set(fields)

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const REFUSED = { status: 400, code: 'invalid_request', sent: [] }

/** One of each kind: another model, a multiplier, a price, state at the provider, messages. */
const FIELDS = [
  ...[
    'model',
    'models',
    'model_id',
    'route',
    'fallback',
    'fallbacks',
    'billing_policy',
    'container',
    'thread',
  ],
  ...['messages', 'contents', 'system', 'instructions', 'prompt', 'stream', 'tools', 'toolConfig', 'n'],
  ...['candidate_count', 'candidateCount', 'best_of', 'bestOf', 'num_generations', 'max_tokens', 'maxTokens'],
  ...['max_new_tokens', 'max_output_tokens', 'service_tier', 'serviceTier', 'web_search', 'mcp_servers'],
]

describe('provider_options', () => {
  test.each(PROVIDERS)(
    'for %s are refused with 400 and their path if they set a reserved field, in any spelling and at any depth',
    async provider => {
      const target =
        Object.keys(FORMAT_TARGETS).find(each => FORMAT_TARGETS[each]?.[0].startsWith(`${provider}/`)) ?? ''
      for (const field of FIELDS) {
        for (const [name, options] of [
          [field, { [field]: 'x' }],
          [field.toUpperCase(), { [field.toUpperCase()]: 'x' }],
          [`a.b.${field}`, { a: { b: { [field]: 'x' } } }],
          [`extra_body[0].${field}`, { extra_body: [{ [field]: 'x' }] }],
          [`generationConfig.${field}`, { generationConfig: { [field]: 'x' } }],
          [`request_options.${field}`, { request_options: { [field]: 'x' } }],
          [`extra_body.${field}`, { extra_body: JSON.stringify({ [field]: 'x' }) }],
        ] as const) {
          const outcome = await send('native', target, { provider_options: { [provider]: options } })
          expect(outcome).toMatchObject({ ...REFUSED, param: `provider_options.${provider}.${name}` })
        }
      }
    },
  )
})

describe('an unknown field', () => {
  /** Formats whose bodies pass unchanged to a provider of the same format. */
  const PASSING = Object.keys(FORMAT_REQUESTS).filter(
    format => format !== 'native' && format !== 'ollama-chat',
  )

  test.each(PASSING)('of %s is refused if it contains a reserved field', async format => {
    for (const field of FIELDS) {
      for (const [param, fields] of [
        [`extra_body.${field}`, { extra_body: { [field]: 'x' } }],
        [`extra_body.a[0].${field}`, { extra_body: { a: [{ [field]: 'x' }] } }],
        [`request_options.${field.toUpperCase()}`, { request_options: { [field.toUpperCase()]: 'x' } }],
        [`google.${field}`, { google: { [field]: 'x' } }],
      ] as const) {
        const outcome = await send(format, format, fields)
        // Gemini's format refuses every unknown field.
        const isUnread = format === 'gemini-content'
        expect(outcome).toMatchObject(isUnread ? { status: 400, sent: [] } : { ...REFUSED, param })
      }
    }
  })

  test.each(PASSING)('of %s is refused if it is another spelling of a known field', async format => {
    for (const field of ['Model', 'MODEL', 'ſtream', 'Stream', 'meſſages', 'TOOLS', 'Tools', 'maxTokenſ']) {
      const outcome = await send(format, format, { [field]: 'x' })
      expect([format, field, outcome]).toMatchObject([format, field, { status: 400, sent: [] }])
    }
  })

  test('is passed on if it contains no reserved field', async () => {
    const fields = {
      novelty: { a: [{ b: 1 }] },
      metadata: { model: 'x', n: '2' },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { properties: { model: {} } } },
      },
    }
    const { status, sent } = await send('openai-chat', 'openai-chat', {
      ...fields,
      reasoning: { max_tokens: 2000 },
    })
    expect(status).toBe(200)
    // OpenRouter's word for an effort is written as OpenAI's.
    expect(sent[0]).toMatchObject({ ...fields, reasoning_effort: 'medium' })
  })
})

describe('a dropped field whose name looks like a path', () => {
  const DOTTED = [
    [{ 'a.b': { secret: 1 } }, 'a.b'],
    [{ 'note[0]': { secret: 1 } }, 'note[0]'],
    [{ 'a"].b': { secret: 1 } }, 'a"].b'],
    [{ 'generationConfig.topP': { secret: 1 } }, 'generationConfig.topP'],
    [{ generationConfig: { 'x.y[2]': { secret: 1 }, topP: 0.5 } }, 'generationConfig.x.y[2]'],
    [
      { tools: [{ 'google.search': { secret: 1 }, functionDeclarations: [{ name: 'f' }] }] },
      'tools[0].google.search',
    ],
    [
      { contents: [{ parts: [{ text: 'hi' }, { text: 'a', 'b.c': { secret: 1 } }] }] },
      'contents[0].parts[1].b.c',
    ],
  ] as const

  test.each(DOTTED)('%j is not sent, and the header names it', async (fields, name) => {
    await set({ unsupported_params: 'drop' })
    const whole = { generationConfig: { topP: 0.5 }, ...fields }
    const { status, dropped, sent } = await send('gemini-content', 'gemini-content', whole)
    expect([status, dropped]).toEqual([200, name])
    expect(JSON.stringify(sent)).not.toContain('secret')
    // A field whose path reads the same is kept.
    expect(sent[0]).toMatchObject({ generationConfig: { topP: 0.5 } })
    await set({ unsupported_params: 'refuse' })
    const refused = await send('gemini-content', 'gemini-content', whole)
    expect([refused.status, refused.param, refused.sent]).toEqual([400, name, []])
  })
})

test('null is absent in fields that only a key may send, and in those of embeddings and images that pass on unread', async () => {
  for (const [format, fields] of [
    ['ollama-chat', { keep_alive: null, top_logprobs: null }],
    ['gemini-content', { safetySettings: null, labels: null, cachedContent: null }],
  ] as const) {
    for (const target of [format, 'openai-chat']) {
      const { status } = await send(format, target, fields, harness.token)
      expect([format, target, status]).toEqual([format, target, 200])
    }
  }
  for (const [route, body] of [
    ['/openai/v1/embeddings', { model: 'sandbox/embed', input: 'x', novelty: null }],
    ['/openai/v1/images/generations', { model: 'sandbox/image', prompt: 'x', style: null, mask: null }],
  ] as const) {
    const { status } = await harness.app.call(route, body, { key: harness.token })
    expect([route, status]).toEqual([route, 200])
  }
})

test('embeddings and images refuse reserved fields within unknown ones', async () => {
  harness.upstream.script(json(200, { created: 1, data: [{ b64_json: 'QUJD' }] }))
  const before = harness.upstream.requests.length
  for (const [route, own] of [
    ['/openai/v1/embeddings', { model: 'openai/text-embedding-3-small', input: 'x' }],
    ['/openai/v1/images/generations', { model: 'openai/gpt-image-1', prompt: 'a fox' }],
  ] as const) {
    for (const fields of [
      { extra_body: { model: 'x' } },
      { extra_body: { N: 100 } },
      { a: [{ b: { num_generations: 9 } }] },
      { 'extra_body[model]': 'x' },
      { extra_body: '{"model":"x"}' },
      { MODEL: 'x' },
      { bestOf: 3 },
    ]) {
      const response = await harness.app.call(route, { ...own, ...fields })
      expect([route, fields, response.status]).toEqual([route, fields, 400])
    }
  }
  expect(harness.upstream.requests).toHaveLength(before)
})
