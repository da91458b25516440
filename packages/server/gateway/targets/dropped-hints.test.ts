import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message } from '../../testing/fakes/scripted-anthropic.ts'
import { completion, json } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** What only steers sampling or is a hint is left out and named, whatever the setting; nothing else is lost. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const CLAUDE = 'anthropic/claude-opus-4-8'
const GROQ = 'groq/llama-3.3-70b-versatile'
const MESSAGES = [{ role: 'user', content: 'hi' }]
const FN = { name: 'f', parameters: { type: 'object', properties: { a: { type: 'string' } } } }
const TOOLS = [{ type: 'function', function: FN }]

const CONVERSED = json(200, {
  output: { message: { role: 'assistant', content: [{ text: 'x' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 5, totalTokens: 6 },
})

interface Outcome {
  readonly status: number
  readonly dropped: string | null
  readonly emulated: string | null
  readonly body: any
  readonly sent: Record<string, unknown>
}

async function call(route: string, body: object): Promise<Outcome> {
  const response = await harness.app.call(route, body)
  const text = await response.text()
  return {
    status: response.status,
    dropped: response.headers.get('x-rideau-dropped-params'),
    emulated: response.headers.get('x-rideau-emulated-params'),
    body: text.startsWith('{') ? JSON.parse(text) : text,
    sent: harness.upstream.requests.at(-1)?.body ?? {},
  }
}

describe.each(['refuse', 'drop'])('with unsupported_params %s', setting => {
  beforeAll(() => harness.set({ unsupported_params: setting }))

  test.each<[string, string, object, string | null]>([
    ['temperature at a new Claude', '/openai/v1/chat/completions', { temperature: 0.7 }, 'temperature'],
    ['the usual temperature', '/openai/v1/chat/completions', { temperature: 1 }, null],
    ['a seed', '/openai/v1/chat/completions', { seed: 1 }, 'seed'],
    ['penalties', '/v1/chat', { presence_penalty: 0.5, frequency_penalty: 0 }, 'presence_penalty'],
    [
      'temperature, top_p and top_k in its own format',
      '/anthropic/v1/messages',
      {
        max_tokens: 10,
        temperature: 0.1,
        top_p: 0.9,
        top_k: 5,
      },
      'temperature, top_p, top_k',
    ],
  ])('%s is not sent', async (_, route, fields, dropped) => {
    harness.upstream.script(message([{ type: 'text', text: 'x' }]))
    const outcome = await call(route, { model: CLAUDE, messages: MESSAGES, ...fields })
    expect([outcome.status, outcome.dropped]).toEqual([200, dropped])
    for (const name of ['temperature', 'top_p', 'top_k', 'seed'])
      expect(outcome.sent).not.toHaveProperty(name)
  })

  test("gemini-cli's topK and thinkingConfig do not stop a model that has neither", async () => {
    harness.upstream.script(completion('x'))
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { temperature: 1, topP: 0.95, topK: 64, thinkingConfig: { includeThoughts: true } },
    }
    const outcome = await call('/gemini/v1beta/models/groq%2Fllama-3.3-70b-versatile:generateContent', body)
    expect(outcome.status).toBe(200)
    expect(outcome.dropped).toContain('generationConfig.topK')
  })
})

test('the log names what was left out, as the caller spells it, and the limits that were checked', async () => {
  const limit = { scope: 'environment', metric: 'requests', limit: 1_000, window_seconds: 60 }
  const made = await harness.app.manage('POST', `/v1/environments/${harness.app.developmentId}/limits`, limit)
  const { id } = made.body
  harness.upstream.script(completion('x'))
  const response = await harness.app.call(
    '/gemini/v1beta/models/groq%2Fllama-3.3-70b-versatile:generateContent',
    {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { topK: 64 },
    },
  )
  expect(response.headers.get('x-rideau-dropped-params')).toBe('generationConfig.topK')
  await response.text()
  const log = await harness.app.findLog(response.headers.get('x-request-id') ?? '')
  expect(log.dropped_params).toEqual(['generationConfig.topK'])
  expect(log.checked_limits).toEqual([
    {
      kind: 'limit',
      id,
      scope: 'environment',
      metric: 'requests',
      limit: 1_000,
      reserved: 1,
      remaining: 999,
      refused: null,
    },
  ])
  await harness.app.manage('DELETE', `/v1/limits/${id}`)
})

test('what changes the answer is refused by name', async () => {
  await harness.set({ unsupported_params: 'refuse' })
  for (const [name, value] of [
    ['logprobs', true],
    ['logit_bias', { 1: 1 }],
  ] as const) {
    const outcome = await call('/openai/v1/chat/completions', {
      model: CLAUDE,
      messages: MESSAGES,
      [name]: value,
    })
    expect([outcome.status, outcome.body.error.param]).toEqual([400, name])
  }
})

describe('an effort that Claude cannot follow', () => {
  const HAIKU = 'anthropic/claude-haiku-4-5'
  const ASKED = { model: HAIKU, messages: MESSAGES, tools: TOOLS, reasoning_effort: 'high' }
  const called = message([{ type: 'tool_use', id: 't1', name: 'f', input: {} }])

  test('because a call is forced is not sent, and named in the header and the log', async () => {
    harness.upstream.script(called)
    const response = await harness.app.call('/v1/chat', {
      ...ASKED,
      tool_choice: 'required',
      temperature: 0.5,
    })
    expect(response.headers.get('x-rideau-dropped-params')).toBe('reasoning_effort')
    await response.text()
    const sent = harness.upstream.requests.at(-1)?.body
    expect(sent).toMatchObject({ tool_choice: { type: 'any' }, temperature: 0.5 })
    expect(sent).not.toHaveProperty('thinking')
    const log = await harness.app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log.dropped_params).toEqual(['reasoning_effort'])
  })

  test('because another provider made the calls is not sent and named, as the caller spells it', async () => {
    harness.upstream.script(called)
    const outcome = await call('/bedrock/model/anthropic%2Fclaude-haiku-4-5/converse', {
      messages: [
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c', name: 'f', input: {} } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'c', content: [{ text: '1' }] } }] },
      ],
      toolConfig: { tools: [{ toolSpec: { name: 'f', inputSchema: { json: FN.parameters } } }] },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    })
    expect([outcome.status, outcome.dropped]).toEqual([200, 'additionalModelRequestFields.thinking'])
    expect(outcome.sent).not.toHaveProperty('thinking')
  })

  const text = message([{ type: 'text', text: 'x' }])

  test('because a bound of cost lowers the output cap is not sent and named', async () => {
    const ask = async (usd: number) => {
      const { key } = await harness.app.createKey({ restrictions: { max_request_cost_usd: usd } })
      harness.upstream.script(text)
      const body = { model: HAIKU, messages: MESSAGES, reasoning_effort: 'high' }
      return seen(await harness.app.call('/v1/chat', body, { key }))
    }
    const little = await ask(0.004)
    expect(little).toMatchObject({ thinking: undefined, dropped: ['reasoning_effort'] })
    expect(little.cap).toBeLessThan(800)
    // A cap that holds some thinking.
    const some = await ask(0.02)
    expect(some.cap).toBeLessThan(4000)
    const thinking = { type: 'enabled', budget_tokens: Math.floor(some.cap / 2) }
    expect(some).toMatchObject({ thinking, dropped: null })
  })

  test.each([
    ['Anthropic', 'anthropic', '/anthropic/v1/messages', 'thinking'],
    [
      'Bedrock',
      'bedrock',
      '/bedrock/model/bedrock%2Fus.anthropic.claude-haiku-4-5-20251001-v1:0/converse',
      'additionalModelRequestFields.thinking',
    ],
  ])('in the own format of %s is fitted to a cap that a budget lowers', async (_, format, route, name) => {
    const { id, key } = await harness.app.createKey({})
    const budget = { limit_usd: 0.1, window: 'month', scope: 'key', scope_ref: id }
    const made = await harness.app.manage('POST', `/v1/projects/${harness.app.projectId}/budgets`, budget)
    const ask = async (cap: number, thinking?: object) => {
      const body =
        format === 'anthropic'
          ? { model: HAIKU, messages: MESSAGES, max_tokens: cap, thinking }
          : {
              messages: [{ role: 'user', content: [{ text: 'hi' }] }],
              inferenceConfig: { maxTokens: cap },
              additionalModelRequestFields: { thinking },
            }
      harness.upstream.script(format === 'anthropic' ? text : CONVERSED)
      return seen(await harness.app.call(route, body, { key }))
    }
    const asked = { type: 'enabled', budget_tokens: 8000 }
    const fitted = { type: 'enabled', budget_tokens: 2048 }
    expect(await ask(9000, asked)).toEqual({ cap: 4096, thinking: fitted, dropped: null })
    // Answers that are all short lower the cap further.
    for (let sent = 0; sent < 20; sent++) await ask(100)
    const short = await ask(9000, asked)
    expect(short).toMatchObject({ thinking: undefined, dropped: [name] })
    expect(short.cap).toBeLessThan(100)
    await harness.app.manage('DELETE', `/v1/budgets/${made.body.id}`)
  })

  async function seen(response: Response) {
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    const log = await harness.app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log.dropped_params?.join() ?? null).toBe(response.headers.get('x-rideau-dropped-params'))
    const sent: Record<string, any> = harness.upstream.requests.at(-1)?.body ?? {}
    const cap: number = sent.max_tokens ?? sent.inferenceConfig?.maxTokens
    return {
      cap,
      thinking: (sent.additionalModelRequestFields ?? sent).thinking,
      dropped: log.dropped_params,
    }
  }

  test('where it can is sent, and nothing is named', async () => {
    harness.upstream.script(called)
    const outcome = await call('/v1/chat', ASKED)
    expect([outcome.status, outcome.dropped]).toEqual([200, null])
    expect(outcome.sent).toHaveProperty('thinking')
  })
})

describe('one call at a time at Gemini', () => {
  const GEMINI = 'gemini/gemini-3-flash-preview'
  const twoCalls = json(200, {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: { a: '1' } } },
            { functionCall: { name: 'f', args: { a: '2' } } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  })

  test('is kept to by the gateway, for both formats that ask for it', async () => {
    harness.upstream.script(twoCalls, twoCalls)
    const chat = await call('/openai/v1/chat/completions', {
      model: GEMINI,
      messages: MESSAGES,
      tools: TOOLS,
      parallel_tool_calls: false,
    })
    expect([chat.status, chat.dropped, chat.emulated]).toEqual([200, null, 'parallel_tool_calls'])
    expect(chat.body.choices[0].message.tool_calls).toHaveLength(1)
    const claude = await call('/anthropic/v1/messages', {
      model: GEMINI,
      max_tokens: 10,
      messages: MESSAGES,
      tools: [{ name: 'f', input_schema: FN.parameters }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    // Named as the caller wrote it.
    expect([claude.status, claude.dropped, claude.emulated]).toEqual([200, null, 'tool_choice'])
    expect(claude.body.content.filter((block: { type: string }) => block.type === 'tool_use')).toHaveLength(1)
  })

  test('is not asked for where one function is forced', async () => {
    harness.upstream.script(twoCalls)
    const forced = await call('/anthropic/v1/messages', {
      model: GEMINI,
      max_tokens: 10,
      messages: MESSAGES,
      tools: [{ name: 'f', input_schema: FN.parameters }],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    })
    expect([forced.status, forced.dropped, forced.emulated]).toEqual([200, null, null])
  })
})

test('old functions work at every provider, and the answer calls one as function_call', async () => {
  const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":"1"}' } }]
  harness.upstream.script(
    completion('', {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: calls },
          finish_reason: 'tool_calls',
        },
      ],
    }),
    message([{ type: 'tool_use', id: 't1', name: 'f', input: { a: '1' } }]),
  )
  for (const model of [GROQ, CLAUDE]) {
    const outcome = await call('/openai/v1/chat/completions', { model, messages: MESSAGES, functions: [FN] })
    expect([model, outcome.status, outcome.dropped]).toEqual([model, 200, null])
    const [choice] = outcome.body.choices
    expect(choice.finish_reason).toBe('function_call')
    expect(choice.message.function_call).toMatchObject({ name: 'f' })
    expect(choice.message).not.toHaveProperty('tool_calls')
  }
})
