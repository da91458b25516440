import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** Callers of Cohere's format, with providers of any format. */

const PATH = '/cohere/v2/chat'
const OTHER = 'openai/gpt-4.1'
const OWN = 'cohere/command-a-03-2025'
const messages = [{ role: 'user', content: 'Weather in Paris?' }]
const tools = [
  { type: 'function', function: { name: 'weather', description: 'd', parameters: { type: 'object' } } },
]
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'cohere']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const post = (fields: object, options = {}) => app.call(PATH, { model: OTHER, messages, ...fields }, options)
const sent = (): Record<string, any> => upstream.requests.at(-1)?.body as Record<string, any>

function eventsOf(text: string): any[] {
  return text
    .split('\n\n')
    .filter(block => block.includes('data: '))
    .map(block => block.slice(block.indexOf('data: ') + 6))
    .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
}

describe('a provider of another format', () => {
  test('receives a translated request, and its answer is translated back', async () => {
    upstream.script(completion('Sunny.'))
    const answer = await post({
      max_tokens: 9,
      p: 0.5,
      stop_sequences: ['x'],
      seed: 3,
      tools,
      tool_choice: 'REQUIRED',
    })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      id: answer.headers.get('x-request-id'),
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Sunny.' }] },
      usage: {
        billed_units: { input_tokens: 12, output_tokens: 3 },
        tokens: { input_tokens: 12, output_tokens: 3 },
        cached_tokens: 0,
      },
    })
    expect(sent()).toMatchObject({
      model: 'gpt-4.1',
      messages,
      top_p: 0.5,
      stop: ['x'],
      seed: 3,
      tools,
      tool_choice: 'required',
    })
    const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({
      surface: 'cohere',
      status: 200,
      usage: { input_tokens: 12, output_tokens: 3 },
    })
  })

  test('exchanges tool calls and their results with documents', async () => {
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    upstream.script(
      completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
      completion('Sunny.'),
    )
    const first = (await (await post({ tools })).json()) as any
    expect(first).toMatchObject({ finish_reason: 'TOOL_CALL', message: { tool_calls: [call] } })
    const result = {
      role: 'tool',
      tool_call_id: 'call_1',
      content: [{ type: 'document', document: { id: '1', data: { t: '20 degrees' } } }],
    }
    const assistantMessage = { ...first.message, tool_plan: 'Look it up.' }
    expect((await post({ tools, messages: [...messages, assistantMessage, result] })).status).toBe(200)
    expect(sent().messages).toMatchObject([
      messages[0],
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: '{"t":"20 degrees"}' },
    ])
  })

  test("streams this format's events, with calls and usage", async () => {
    const begun = { index: 0, ...call, function: { name: 'weather', arguments: '' } }
    upstream.script(
      stream(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Let me ' }),
        chunk({ content: 'see.' }),
        chunk({ tool_calls: [begun] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ),
    )
    const answer = await post({ tools, stream: true })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const text = await answer.text()
    expect(text.startsWith('event: message-start\ndata: {')).toBe(true)
    const part = (content: object) => ({ message: { content } })
    expect(eventsOf(text).slice(1)).toEqual([
      { type: 'content-start', index: 0, delta: part({ type: 'text', text: '' }) },
      { type: 'content-delta', index: 0, delta: part({ text: 'Let me ' }) },
      { type: 'content-delta', index: 0, delta: part({ text: 'see.' }) },
      { type: 'content-end', index: 0 },
      {
        type: 'tool-call-start',
        index: 0,
        delta: { message: { tool_calls: { ...call, function: { name: 'weather', arguments: '' } } } },
      },
      {
        type: 'tool-call-delta',
        index: 0,
        delta: { message: { tool_calls: { function: { arguments: '{"city":"Paris"}' } } } },
      },
      { type: 'tool-call-end', index: 0 },
      {
        type: 'message-end',
        delta: {
          finish_reason: 'TOOL_CALL',
          usage: {
            billed_units: { input_tokens: 12, output_tokens: 3 },
            tokens: { input_tokens: 12, output_tokens: 3 },
            cached_tokens: 0,
          },
        },
      },
      '[DONE]',
    ])
  })

  test.each([
    [{ documents: ['Paris is sunny.'] }, 'documents'],
    [{ citation_options: { mode: 'ACCURATE' } }, 'citation_options'],
    [{ safety_mode: 'STRICT' }, 'safety_mode'],
    [{ strict_tools: true }, 'strict_tools'],
    [{ logprobs: true }, 'logprobs'],
    [{ novelty: 1 }, 'novelty'],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'messages[0].content[0]'],
  ])('is not called for %j, which is refused by name', async (fields, param) => {
    const before = upstream.requests.length
    const answer = await post(fields)
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_request', param }])
    expect(upstream.requests.length).toBe(before)
  })

  test('is called without k, which only steers sampling', async () => {
    upstream.script(completion('hi'))
    const answer = await post({ k: 5 })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, 'k'])
    expect(sent()).not.toHaveProperty('k')
  })

  test.each([
    { documents: [], citation_options: { mode: 'OFF' }, k: 0, safety_mode: 'CONTEXTUAL' },
    { logprobs: false, strict_tools: false, priority: 3, safety_mode: null },
  ])('ignores %j, which changes nothing', async fields => {
    upstream.script(completion('hi'))
    expect((await post(fields)).status).toBe(200)
  })
})

describe('a provider of this format', () => {
  const reply = {
    id: 'c1',
    finish_reason: 'COMPLETE',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: 'Sunny.' }],
      citations: [{ start: 0, end: 5, text: 'Sunny', sources: [] }],
    },
    usage: {
      billed_units: { input_tokens: 5, output_tokens: 2 },
      tokens: { input_tokens: 500, output_tokens: 4 },
    },
  }

  test("receives the caller's bytes except for the model, and its bytes are the answer", async () => {
    upstream.script(json(200, reply))
    const fields = { documents: ['Paris is sunny.'], citation_options: { mode: 'FAST' }, k: 5, novelty: 1.5 }
    const answer = await post({ model: OWN, ...fields })
    expect(await answer.json()).toEqual(reply)
    expect(sent()).toEqual({ model: 'command-a-03-2025', messages, ...fields })
    const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ usage: { input_tokens: 5, output_tokens: 2 } })
  })

  const events = [
    { id: 'c1', type: 'message-start', delta: { message: { role: 'assistant' } } },
    { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Sunny.' } } } },
    { type: 'citation-start', index: 0, delta: { message: { citations: { start: 0, end: 5 } } } },
    { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: reply.usage } },
  ]
  const frames = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

  test('streams its own events unchanged, with citations', async () => {
    upstream.script(stream(...frames, DONE))
    const text = await (await post({ model: OWN, stream: true })).text()
    expect(text).toBe(frames.join('') + DONE)
  })

  test('ends a broken or failed stream with an error and without [DONE]', async () => {
    const failed = { type: 'message-end', delta: { finish_reason: 'ERROR', error: 'secret words' } }
    const answers = [
      cutStream(...frames.slice(0, 2)),
      stream(...frames.slice(0, 2), `data: ${JSON.stringify(failed)}\n\n`),
    ]
    for (const answer of answers) {
      upstream.script(answer)
      const text = await (await post({ model: OWN, stream: true })).text()
      expect(eventsOf(text).at(-1)).toMatchObject({
        type: 'message-end',
        delta: { finish_reason: 'ERROR', code: 'stream_interrupted', error: expect.any(String) },
      })
      expect(text).not.toContain('secret words')
    }
  })
})

test('closes open blocks of a translated stream that breaks off, and reports why', async () => {
  upstream.script(cutStream(chunk({ role: 'assistant', content: 'Hal' })))
  const events = eventsOf(await (await post({ stream: true })).text())
  expect(events.map(({ type }) => type)).toEqual([
    'message-start',
    'content-start',
    'content-delta',
    'content-end',
    'message-end',
  ])
  expect(events.at(-1).delta).toMatchObject({ finish_reason: 'ERROR', code: 'stream_interrupted' })
})

describe("every failure has Cohere's shape, with the gateway's code", () => {
  test.each<[string, () => Promise<Response>, number, string]>([
    ['no route', () => app.call('/cohere/v2/nothing', {}), 404, 'route_not_found'],
    ['no credential', () => fetch(app.gatewayUrl + PATH, { method: 'POST' }), 401, 'unauthenticated'],
    ['a wrong one', () => post({}, { key: 'rd_sk_wrong' }), 401, 'invalid_key'],
    ['no model', () => post({ model: null }), 400, 'invalid_request'],
    ['no message', () => post({ messages: [] }), 400, 'invalid_request'],
    [
      'a broken part',
      () => post({ messages: [{ role: 'user', content: [{ type: 'text' }] }] }),
      400,
      'invalid_request',
    ],
    ['a broken choice', () => post({ tool_choice: 'auto' }), 400, 'invalid_request'],
    ['an unknown model', () => post({ model: 'sandbox/none' }), 404, 'model_not_found'],
  ])('%s', async (_, send, status, code) => {
    const answer = await send()
    const id = answer.headers.get('x-request-id')
    expect([answer.status, await answer.json()]).toEqual([
      status,
      {
        id,
        message: expect.any(String),
        code,
        param: ['invalid_request', 'model_not_found'].includes(code) ? expect.any(String) : null,
        doc_url: expect.stringContaining(`/docs/errors#${code}`),
      },
    ])
  })

  test('a conversation that is too long is reported in words that clients recognize', async () => {
    upstream.script(json(400, { error: { message: 'x', code: 'context_length_exceeded' } }))
    const answer = await post({})
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error_type: 'TOO_MANY_TOKENS', message: expect.stringMatching(/^too many tokens/) },
    ])
  })
})

test('the sandbox answers in this format, plain and streamed', async () => {
  const plain = (await (await post({ model: 'sandbox/echo' })).json()) as any
  const events = eventsOf(await (await post({ model: 'sandbox/echo', stream: true })).text())
  const text = events.map(({ delta }) => delta?.message?.content?.text ?? '').join('')
  expect(text).toBe(plain.message.content[0].text)
  expect(events.at(-2).delta).toEqual({ finish_reason: plain.finish_reason, usage: plain.usage })
})

test('ends a canceled stream with an error', async () => {
  let release = (): void => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  upstream.script(async res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ role: 'assistant', content: 'Hal' }))
    await gate
    res.end()
  })
  const answer = await post({ stream: true })
  const id = answer.headers.get('x-request-id')
  const canceled = await app.call(`/v1/requests/${id}/cancel`, {})
  expect(await canceled.json()).toMatchObject({ canceled: true })
  expect(eventsOf(await answer.text()).at(-1)).toMatchObject({
    delta: { finish_reason: 'ERROR', code: 'request_canceled' },
  })
  release()
})

test('sends streamed tokens one by one', async () => {
  upstream.script(streamedCompletion('a', 'b', 'c'))
  const events = eventsOf(await (await post({ stream: true })).text())
  expect(events.filter(({ type }) => type === 'content-delta')).toHaveLength(3)
})
