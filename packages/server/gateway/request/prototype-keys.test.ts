import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completion, json, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { FORMAT_REQUESTS, findErrorFields, toFormatRequest } from '../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'

/** Keys and values such as `__proto__` and `constructor` never reach a property of Object.prototype. */

let harness: FormatHarness
let app: TestApp
let upstream: ScriptedUpstream
/** A secret key for one model with a very low max_request_cost_usd. */
let bounded: string

const MODEL = 'groq/llama-3.3-70b-versatile'

beforeAll(async () => {
  harness = await openFormatHarness()
  app = harness.app
  upstream = harness.upstream
  upstream.script(completion('Hello.'))
  const restrictions = { allowed_models: [MODEL], max_request_cost_usd: 0.0001 }
  bounded = (await app.createKey({ restrictions })).key
  await harness.set({ allow_client_passthrough: true })
})

afterAll(() => harness.close())

/** Returns the answer, and how many requests reached the provider. */
async function send(route: string, text: string, key: string): Promise<object> {
  const before = upstream.requests.length
  const response = await app.call(route, text, { key })
  const outcome = findErrorFields(await response.json())
  return { status: response.status, ...outcome, reached: upstream.requests.length - before }
}

const REFUSED = { status: 400, code: 'request_validation_failed', reached: 0 }

const KEYS = ['"__proto__"', '"\\u005f_proto__"', '"__prot\\u006f__"', '"\\u005F\\u005Fproto\\u005f\\u005f"']

describe.each(['a bounded key', 'a client token'])('with %s', credentialKind => {
  const credential = (): string => (credentialKind === 'a client token' ? harness.token : bounded)

  test.each(KEYS)('refuses a body with the key %s at any depth in every format', async key => {
    const other = `{"groq":{"model":"llama-3.1-8b-instant","n":100}}`
    for (const format of Object.keys(FORMAT_REQUESTS)) {
      const { route, body } = toFormatRequest(format, MODEL)
      const text = JSON.stringify(body).slice(0, -1)
      for (const field of [
        `${key}:${other}`,
        `"provider_options":{${key}:${other}}`,
        `"provider_options":{"groq":{${key}:{"model":"x"}}}`,
        `"extra_body":{"a":[{},{"b":{${key}:{"model":"x"}}}]}`,
        `"metadata":{${key}:"x"}`,
        `"a":{${Array.from({ length: 40 }, (_, at) => `"k${at}":0`).join(',')},${key}:1}`,
      ]) {
        const outcome = await send(route, `${text},${field}}`, credential())
        expect([format, field, outcome]).toMatchObject([format, field, REFUSED])
        expect(outcome).toMatchObject({ param: expect.stringContaining('__proto__') })
      }
    }
  })

  test('refuses the key __proto__ in embeddings and images', async () => {
    for (const [route, body] of [
      ['/v1/embeddings', { model: 'sandbox/embed', input: 'x' }],
      ['/openai/v1/embeddings', { model: 'sandbox/embed', input: 'x' }],
      ['/openai/v1/images/generations', { model: 'sandbox/image', prompt: 'a fox' }],
    ] as const) {
      const text = `${JSON.stringify(body).slice(0, -1)},"x":{"__proto__":{"n":100}}}`
      const key = credentialKind === 'a client token' ? harness.token : app.secretKey
      expect(await send(route, text, key)).toMatchObject({ ...REFUSED, param: '__proto__' })
    }
  })
})

test('refuses a form with a field __proto__', async () => {
  const form = new FormData()
  form.set('model', 'sandbox/image')
  form.set('prompt', 'a fox')
  form.set('__proto__', '{"n":100}')
  form.set('image', new Blob([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])]), 'a.png')
  const headers = { authorization: `Bearer ${app.secretKey}` }
  const response = await fetch(`${app.gatewayUrl}/openai/v1/images/edits`, {
    method: 'POST',
    headers,
    body: form,
  })
  expect([response.status, findErrorFields(await response.json())]).toEqual([
    400,
    { code: 'request_validation_failed', param: '__proto__' },
  ])
})

test("passes the key __proto__ within the JSON text of a tool call's arguments unchanged", async () => {
  const [model, answer] = FORMAT_TARGETS['anthropic-messages'] ?? ['', json(200, {})]
  upstream.script(answer)
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'f', arguments: '{"__proto__":{"a":1},"b":2}' },
  }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ]
  const response = await app.call('/v1/chat', { model, messages })
  expect(response.status).toBe(200)
  expect(upstream.requests.at(-1)?.text).toContain('"input":{"__proto__":{"a":1},"b":2}')
  upstream.script(completion('Hello.'))
})

const NAMES = [
  'constructor',
  'valueOf',
  'toString',
  'hasOwnProperty',
  'isPrototypeOf',
  '__defineGetter__',
  'novelty',
]

/** Every place where a caller's string selects what happens to the request. */
function nameIn(format: string, name: string): Record<string, unknown>[] {
  const part = { type: name, [name]: 'x', text: 'y' }
  const message = { role: 'user', content: [part] }
  switch (format) {
    case 'openai-responses':
      return [
        { input: [part] },
        { input: [message] },
        { input: [{ type: 'function_call_output', call_id: 'c', output: [part] }] },
        { tools: [{ type: name }] },
        { tools: [{ type: 'namespace', name: 'n', tools: [{ type: name }] }] },
        { tool_choice: { type: name } },
        { reasoning: { effort: name } },
        { text: { format: { type: name } } },
      ]
    case 'gemini-content':
      return [
        { contents: [{ role: 'user', parts: [{ [name]: {} }] }] },
        { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: name, data: 'QUJD' } }] }] },
        { tools: [{ [name]: {} }] },
        { generationConfig: { [name]: 1 } },
        { generationConfig: { thinkingConfig: { thinkingLevel: name } } },
        { [name]: {} },
      ]
    case 'bedrock-converse':
      return [
        { messages: [{ role: 'user', content: [{ [name]: {} }] }] },
        { messages: [{ role: 'user', content: [{ image: { format: name, source: { bytes: 'QUJD' } } }] }] },
        { toolConfig: { tools: [{ [name]: {} }] } },
        { additionalModelRequestFields: { [name]: 1, reasoning_effort: name } },
        { [name]: {} },
      ]
    default:
      return [
        { messages: [message] },
        { messages: [{ role: name, content: 'hi' }] },
        { messages: [{ role: 'assistant', content: [part] }, message] },
        {
          messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [part] }] }],
        },
        {
          messages: [
            { role: 'user', content: [{ type: 'input_audio', input_audio: { format: name, data: 'QUJD' } }] },
          ],
        },
        { tools: [{ type: name, name: 'n' }] },
        { tool_choice: name },
        { tool_choice: { type: name } },
        { response_format: { type: name } },
        { reasoning_effort: name },
        { options: { [name]: 1 } },
        { provider_options: { [name]: {} } },
        { [name]: {} },
      ]
  }
}

describe.each(Object.keys(FORMAT_REQUESTS))('%s', format => {
  test.each(Object.keys(FORMAT_TARGETS))(
    'treats names of Object.prototype like any unknown name, to %s',
    async target => {
      const [model, answer] = FORMAT_TARGETS[target] as (typeof FORMAT_TARGETS)[string]
      upstream.script(answer)
      const outcomes = await Promise.all(
        NAMES.map(async name => {
          const statuses: number[] = []
          for (const fields of nameIn(format, name)) {
            const { route, body } = toFormatRequest(format, model, fields)
            statuses.push((await app.call(route, body)).status)
          }
          return statuses
        }),
      )
      const unknown = outcomes.at(-1) ?? []
      for (const [at, statuses] of outcomes.entries())
        expect([NAMES[at], ...statuses]).toEqual([NAMES[at], ...unknown])
      expect(unknown.filter(status => status >= 500)).toEqual([])
    },
  )
})

test('images and embeddings treat names of Object.prototype like any unknown value', async () => {
  upstream.script(json(200, { created: 1, data: [{ b64_json: 'QUJD' }] }))
  for (const name of NAMES) {
    for (const model of ['sandbox/image', 'openai/gpt-image-1', 'gemini/gemini-2.5-flash-image']) {
      for (const fields of [{ quality: name }, { [name]: 1 }, { size: name }, { output_format: name }]) {
        const response = await app.call('/openai/v1/images/generations', {
          model,
          prompt: 'a fox',
          ...fields,
        })
        expect([model, fields, response.status < 500 || response.status === 502]).toEqual([
          model,
          fields,
          true,
        ])
      }
    }
    const fields = { model: 'gemini/gemini-embedding-001', input: 'x', input_type: name }
    upstream.script(json(200, { embeddings: [{ values: [1, 2] }] }))
    expect((await app.call('/openai/v1/embeddings', fields)).status).toBe(200)
    expect(upstream.requests.at(-1)?.text).not.toContain('native code')
    upstream.script(json(200, { created: 1, data: [{ b64_json: 'QUJD' }] }))
  }
})
