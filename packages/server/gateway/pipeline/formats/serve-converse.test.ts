import { encodeAwsEvent, encodeAwsException } from '@rideau/llm/frames/aws-event-frame'
import { openAwsEventStreamParser } from '@rideau/llm/frames/aws-event-stream'
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
  type UpstreamAnswer,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** Callers of AWS's Converse format, with providers of any format. */

const OTHER = 'openai/gpt-4.1'
const OWN = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const messages = [{ role: 'user', content: [{ text: 'Weather in Paris?' }] }]
const spec = { name: 'weather', description: 'd', inputSchema: { json: { type: 'object' } } }
const toolConfig = { tools: [{ toolSpec: spec }], toolChoice: { any: {} } }
const toolUse = { toolUseId: 'call_1', name: 'weather', input: { city: 'Paris' } }
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
const USAGE = {
  inputTokens: 12,
  outputTokens: 3,
  totalTokens: 15,
  cacheReadInputTokens: 0,
  cacheWriteInputTokens: 0,
}

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  const options = { region: 'eu-west-1' }
  await app.addCredential('bedrock', { api_key: 'key-of-the-tenant', base_url: upstream.baseUrl, options })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

interface Options {
  readonly model?: string
  readonly key?: string
  readonly headers?: Record<string, string>
}

const post = (fields: object, { model = OTHER, ...options }: Options = {}, action = 'converse') =>
  app.call(`/bedrock/model/${model}/${action}`, { messages, ...fields }, options)
const open = (fields: object, options: Options = {}) => post(fields, options, 'converse-stream')
const sent = (): Record<string, any> => upstream.requests.at(-1)?.body as Record<string, any>

async function eventsOf(answer: Response): Promise<[string, any][]> {
  const events: [string, any][] = []
  const parser = openAwsEventStreamParser(({ event, data }) => events.push([event ?? '', JSON.parse(data)]))
  parser.push(Buffer.from(await answer.arrayBuffer()))
  parser.end()
  return events
}

function eventStream(...frames: Buffer[]): UpstreamAnswer {
  return res => {
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    res.end(Buffer.concat(frames))
  }
}

describe('a provider of another format', () => {
  test('receives a translated request, and its answer is translated back', async () => {
    upstream.script(completion('Sunny.'))
    const inferenceConfig = { maxTokens: 9, temperature: 0.1, topP: 0.5, stopSequences: ['x'] }
    const system = [{ text: 'Be brief.' }]
    const answer = await post({ system, inferenceConfig, toolConfig, requestMetadata: { team: 'a' } })
    expect(answer.status).toBe(200)
    const id = answer.headers.get('x-request-id')
    expect(answer.headers.get('x-amzn-requestid')).toBe(id)
    expect(await answer.json()).toEqual({
      output: { message: { role: 'assistant', content: [{ text: 'Sunny.' }] } },
      stopReason: 'end_turn',
      usage: USAGE,
      metrics: { latencyMs: expect.any(Number) },
    })
    expect(sent()).toMatchObject({
      model: 'gpt-4.1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Paris?' },
      ],
      temperature: 0.1,
      top_p: 0.5,
      stop: ['x'],
      tool_choice: 'required',
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
    })
    const log = await app.findLog(id ?? '')
    expect(log).toMatchObject({ surface: 'bedrock', model_requested: OTHER, metadata: { team: 'a' } })
  })

  test.each([
    ['raw', OTHER],
    ['encoded', encodeURIComponent(OTHER)],
    ['bare', 'gpt-4.1'],
  ])('accepts the model in the path: %s', async (_, model) => {
    upstream.script(completion('Sunny.'))
    expect((await post({}, { model })).status).toBe(200)
    expect(sent().model).toBe('gpt-4.1')
  })

  test('exchanges tool calls and results, and recognizes returned thinking without a signature', async () => {
    const message = { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [call] }
    upstream.script(
      completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
      completion('Sunny.'),
    )
    const first = (await (await post({ toolConfig })).json()) as any
    expect(first).toMatchObject({
      output: { message: { content: [{ reasoningContent: {} }, { toolUse }] } },
      stopReason: 'tool_use',
    })
    const result = { toolUseId: 'call_1', content: [{ json: { t: 20 } }], status: 'success' }
    const conversation = [
      ...messages,
      first.output.message,
      { role: 'user', content: [{ toolResult: result }] },
    ]
    expect((await post({ toolConfig, messages: conversation })).status).toBe(200)
    expect(sent().messages.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: '{"t":20}' },
    ])
    upstream.script(
      json(200, { output: { message: { role: 'assistant', content: [] } }, stopReason: 'end_turn' }),
    )
    expect((await post({ toolConfig, messages: conversation }, { model: OWN })).status).toBe(200)
    // Reasoning of another model has no signature that this provider accepts.
    expect(sent().messages[1]).toEqual({ role: 'assistant', content: [{ toolUse }] })
  })

  test("streams AWS's frames and events, with calls and usage", async () => {
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
    const answer = await open({ toolConfig })
    expect(answer.headers.get('content-type')).toBe('application/vnd.amazon.eventstream')
    const { input, ...start } = toolUse
    expect(await eventsOf(answer)).toEqual([
      ['messageStart', { role: 'assistant' }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Let me ' } }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'see.' } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: start } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: JSON.stringify(input) } } }],
      ['contentBlockStop', { contentBlockIndex: 1 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: USAGE, metrics: { latencyMs: expect.any(Number) } }],
    ])
  })

  test.each<[object, string]>([
    [{ additionalModelResponseFieldPaths: ['/stop_sequence'] }, 'additionalModelResponseFieldPaths'],
    [{ novelty: 1 }, 'novelty'],
    [{ messages: [{ role: 'user', content: [{ hologram: {} }] }] }, 'messages[0].content[0]'],
  ])('is not called for %j, which is refused by name', async (fields, param) => {
    const before = upstream.requests.length
    const answer = await post(fields)
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_request', param }])
    expect(upstream.requests.length).toBe(before)
  })

  test.each([
    [{ additionalModelRequestFields: { top_k: 5 } }, 'additionalModelRequestFields.top_k'],
    [{ inferenceConfig: { topK: 5 } }, 'inferenceConfig.topK'],
  ])('is called without what only steers sampling: %j', async (fields, param) => {
    upstream.script(completion('hi'))
    const answer = await post(fields)
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, param])
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('5')
  })
})

describe('a provider of this format', () => {
  const reply = {
    output: { message: { role: 'assistant', content: [{ text: 'Sunny.' }] } },
    stopReason: 'end_turn',
    additionalModelResponseFields: { stop_sequence: null },
    usage: USAGE,
    metrics: { latencyMs: 5 },
  }

  test("receives the caller's bytes, and its bytes are the answer", async () => {
    upstream.script(json(200, reply))
    const fields = {
      additionalModelRequestFields: { top_k: 5 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      performanceConfig: { latency: 'standard' },
      novelty: 1.5,
    }
    const answer = await post(fields, { model: OWN })
    expect(await answer.json()).toEqual(reply)
    expect(sent()).toEqual({ messages, ...fields })
    expect(upstream.requests.at(-1)?.path).toContain('claude-sonnet-4-5-20250929-v1%3A0/converse')
  })

  const START = encodeAwsEvent('messageStart', { role: 'assistant' })
  const DELTA = encodeAwsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Sunny.' } })
  const STOP = encodeAwsEvent('messageStop', { stopReason: 'end_turn' })
  const METADATA = encodeAwsEvent('metadata', { usage: USAGE, metrics: { latencyMs: 7 } })

  test('streams its own frames unchanged', async () => {
    upstream.script(eventStream(START, DELTA, STOP, METADATA))
    const answer = await open({}, { model: OWN })
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.concat([START, DELTA, STOP, METADATA]))
  })

  test('ends a failed stream with an exception of the gateway', async () => {
    upstream.script(
      eventStream(START, DELTA, encodeAwsException('throttlingException', { message: 'secret' })),
    )
    const events = await eventsOf(await open({}, { model: OWN }))
    expect(events.at(-1)).toEqual([
      'exception:modelStreamErrorException',
      expect.objectContaining({
        code: 'stream_interrupted',
        message: expect.stringContaining('(stream_interrupted)'),
      }),
    ])
    expect(JSON.stringify(events)).not.toContain('secret')
  })
})

test('ends a broken translated stream with an exception', async () => {
  upstream.script(cutStream(chunk({ role: 'assistant', content: 'Hal' })))
  const events = await eventsOf(await open({}))
  expect(events.map(([type]) => type)).toEqual([
    'messageStart',
    'contentBlockDelta',
    'exception:modelStreamErrorException',
  ])
  expect(events.at(-1)?.[1]).toMatchObject({ code: 'stream_interrupted' })
})

describe("every failure has AWS's shape, with the gateway's code", () => {
  const raw = (authorization?: string) =>
    fetch(`${app.gatewayUrl}/bedrock/model/x/converse`, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
      body: '{}',
    })
  test.each<[string, () => Promise<Response>, number, string, string]>([
    ['no route', () => post({}, {}, 'hologram'), 404, 'ResourceNotFoundException', 'route_not_found'],
    ['no credential', () => raw(), 401, 'AccessDeniedException', 'unauthenticated'],
    ['a wrong one', () => post({}, { key: 'rd_sk_wrong' }), 401, 'AccessDeniedException', 'invalid_key'],
    ['no message', () => post({ messages: [] }), 400, 'ValidationException', 'invalid_request'],
    [
      'a text for content',
      () => post({ messages: [{ role: 'user', content: 'hi' }] }),
      400,
      'ValidationException',
      'invalid_request',
    ],
    [
      'a broken cap',
      () => open({ inferenceConfig: { maxTokens: 0 } }),
      400,
      'ValidationException',
      'invalid_request',
    ],
    [
      'an unknown model',
      () => open({}, { model: 'sandbox/none' }),
      404,
      'ResourceNotFoundException',
      'model_not_found',
    ],
  ])('%s', async (_, send, status, type, code) => {
    const answer = await send()
    expect(answer.headers.get('x-amzn-errortype')).toBe(type)
    expect(answer.headers.get('x-amzn-requestid')).toBe(answer.headers.get('x-request-id'))
    expect([answer.status, await answer.json()]).toEqual([
      status,
      {
        message: expect.any(String),
        code,
        param: ['invalid_request', 'model_not_found'].includes(code) ? expect.any(String) : null,
        doc_url: expect.stringContaining(`/docs/errors#${code}`),
      },
    ])
  })

  test('a signed request is refused with the header to send instead', async () => {
    const answer = await raw(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/eu-west-1/bedrock/aws4_request',
    )
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { code: 'unauthenticated', message: expect.stringContaining('AWS_BEARER_TOKEN_BEDROCK') },
    ])
  })

  test.each([
    [json(429, { error: { message: 'x', code: 'rate_limit_exceeded' } }), 503, 'ServiceUnavailableException'],
    [json(401, { error: { message: 'x' } }), 502, 'ModelErrorException'],
    [json(400, { error: { message: 'x', code: 'context_length_exceeded' } }), 400, 'ValidationException'],
  ])('a provider error', async (answered, status, type) => {
    upstream.script(answered)
    const answer = await post({})
    expect([answer.status, answer.headers.get('x-amzn-errortype')]).toEqual([status, type])
    const { message } = (await answer.json()) as any
    if (status === 400) expect(message).toMatch(/^Input is too long for requested model/)
  })
})

test('the sandbox answers in this format, plain and streamed', async () => {
  const plain = (await (await post({}, { model: 'sandbox/echo' })).json()) as any
  const events = await eventsOf(await open({}, { model: 'sandbox/echo' }))
  const text = events.map(([, body]) => body.delta?.text ?? '').join('')
  expect([{ text }]).toEqual(plain.output.message.content)
  expect(events.at(-2)).toEqual(['messageStop', { stopReason: plain.stopReason }])
  expect(events.at(-1)?.[1].usage).toEqual(plain.usage)
})

test("sends a tool's result as text, even if it looks like a file at the provider", async () => {
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/playground-token`)
  upstream.script(completion('hi'))
  const result = (content: object) => [
    ...messages,
    { role: 'assistant', content: [{ toolUse }] },
    { role: 'user', content: [{ toolResult: { toolUseId: 'call_1', content: [content] } }] },
  ]
  const key: string = made.body.token
  const response = await post({ toolConfig, messages: result({ json: { file_id: 'x' } }) }, { key })
  expect(response.status).toBe(200)
  const reached = await post(
    { toolConfig, messages: result({ document: { file_id: 'x', source: {} } }) },
    { key },
  )
  expect([reached.status, await reached.json()]).toMatchObject([400, { code: 'invalid_request' }])
})

test('ends a canceled stream with an exception', async () => {
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
  const answer = await open({})
  const canceled = await app.call(`/v1/requests/${answer.headers.get('x-request-id')}/cancel`, {})
  expect(await canceled.json()).toMatchObject({ canceled: true })
  expect((await eventsOf(answer)).at(-1)).toMatchObject([
    'exception:validationException',
    { code: 'request_canceled' },
  ])
  release()
})
