import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  messageItem,
  responseFrames,
  responseOf,
  streamedResponseOf,
} from '../../../testing/fakes/scripted-responses.ts'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { collect } from '../../../testing/harness/collect.ts'

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'groq']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CHAT_ONLY = 'groq/llama-3.3-70b-versatile'
const NATIVE = 'openai/gpt-5'
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'now', description: 'The time', parameters: { type: 'object' }, strict: false },
]
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'now',
  arguments: '{"tz": "UTC"}',
  status: 'completed',
}
const chatCall = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"tz": "UTC"}' } }
const toolChoice = (toolCall: unknown, content: string | null = null) => ({
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content, tool_calls: [toolCall], refusal: null },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
})

const sent = (): Record<string, any> => upstream.requests.at(-1)?.body as Record<string, any>
const post = (body: unknown, key?: string): Promise<Response> =>
  app.call('/openai/v1/responses', body, key === undefined ? {} : { key })

describe.each([
  {
    kind: 'a provider that speaks Responses',
    model: NATIVE,
    path: '/v1/responses',
    plain: responseOf(messageItem('High noon.')),
    streamed: streamedResponseOf(messageItem('High noon.')),
    called: responseOf(call),
    calledStream: streamedResponseOf(call),
    json: responseOf(messageItem('{"time":"12:00"}')),
    total: 30,
  },
  {
    kind: 'a provider that speaks chat completions only',
    model: CHAT_ONLY,
    path: '/v1/chat/completions',
    plain: completion('High noon.'),
    streamed: streamedCompletion('High ', 'noon.'),
    called: completion('', toolChoice(chatCall)),
    calledStream: stream(
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [{ index: 0, ...chatCall, function: { name: 'now', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"tz": ' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"UTC"}' } }] }),
      chunk({}, 'tool_calls'),
      usageChunk(),
      DONE,
    ),
    json: completion('{"time":"12:00"}'),
    total: 15,
  },
])(
  'the official client, through $kind',
  ({ model, path, plain, streamed, called, calledStream, json, total }) => {
    test('gets a plain answer', async () => {
      upstream.script(plain)
      const answer = await client.responses.create({
        model,
        input: 'What time is it?',
        instructions: 'Be brief',
      })
      expect(answer.output_text).toBe('High noon.')
      expect(answer.status).toBe('completed')
      expect(answer.usage?.total_tokens).toBe(total)
      expect(upstream.requests.at(-1)?.path).toBe(path)
    })

    test('gets a stream: events in order, and the complete answer at the end', async () => {
      upstream.script(streamed)
      const events = await collect(await client.responses.create({ model, input: 'Time?', stream: true }))
      const texts = events.map(event => (event.type === 'response.output_text.delta' ? event.delta : ''))
      expect(texts.join('')).toBe('High noon.')
      expect(events[0]?.type).toBe('response.created')
      const last = events.at(-1)
      if (last?.type !== 'response.completed') throw new Error(`ended with ${last?.type}`)
      expect(last.response.usage?.total_tokens).toBe(total)
      expect(last.response.output).toMatchObject([{ type: 'message', content: [{ text: 'High noon.' }] }])
    })

    test('gets a tool call and sends its result', async () => {
      upstream.script(called, plain)
      const first = await client.responses.create({ model, input: 'Time?', tools })
      const [item] = first.output
      expect(item).toMatchObject({
        type: 'function_call',
        name: 'now',
        arguments: '{"tz": "UTC"}',
        call_id: 'call_1',
      })
      const second = await client.responses.create({
        model,
        tools,
        input: [
          { role: 'user', content: 'Time?' },
          item as OpenAI.Responses.ResponseFunctionToolCall,
          { type: 'function_call_output', call_id: 'call_1', output: '12:00' },
        ],
      })
      expect(second.output_text).toBe('High noon.')
      const conversation = sent().input ?? sent().messages
      expect(JSON.stringify(conversation.slice(1))).toContain('12:00')
    })

    test('joins streamed tool calls', async () => {
      upstream.script(calledStream)
      const final = await client.responses.stream({ model, input: 'Time?', tools }).finalResponse()
      expect(final.output).toMatchObject([{ type: 'function_call', name: 'now', arguments: '{"tz": "UTC"}' }])
    })

    test('requests and parses structured output', async () => {
      upstream.script(json)
      const schema = {
        type: 'object',
        properties: { time: { type: 'string' } },
        required: ['time'],
        additionalProperties: false,
      }
      const answer = await client.responses.parse({
        model,
        input: 'Time?',
        text: { format: { type: 'json_schema', name: 'time', strict: true, schema } },
      })
      expect(answer.output_parsed).toEqual({ time: '12:00' })
      expect(JSON.stringify(sent())).toContain(JSON.stringify(schema))
    })

    test('raises an interrupted stream instead of ending it', async () => {
      const [first = '', second = '', third = ''] = responseFrames(messageItem('High noon.'))
      upstream.script(
        path === '/v1/responses'
          ? cutStream(first, second, third)
          : cutStream(chunk({ role: 'assistant', content: 'High' })),
      )
      const events: string[] = []
      const read = async (): Promise<void> => {
        for await (const event of await client.responses.create({ model, input: 'Time?', stream: true })) {
          events.push(event.type)
        }
      }
      await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError)
      expect(events).toContain('response.failed')
      expect(events).not.toContain('response.completed')
    })
  },
)

describe('a provider of the same format', () => {
  test("receives the caller's bytes except for the model's name, and its bytes are the answer", async () => {
    upstream.script(responseOf({ ...messageItem('x'), unheard_of: 1 }))
    const body =
      '{"model": "openai/gpt-5", "input": [ {"role":"user","content":"é\\u00e9"} ], "unheard_of": 1.0}'
    const answer = await post(body)
    expect(await answer.text()).toContain('"unheard_of":1')
    expect(upstream.requests.at(-1)?.text).toBe(body.replace('openai/gpt-5', 'gpt-5'))
  })

  test('is billed by its reported usage, plain and streamed', async () => {
    for (const body of [
      { model: NATIVE, input: 'x' },
      { model: NATIVE, input: 'x', stream: true },
    ]) {
      upstream.script(
        'stream' in body ? streamedResponseOf(messageItem('a b c')) : responseOf(messageItem('a b c')),
      )
      const answer = await post(body)
      await answer.text()
      const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
      expect(log.usage).toMatchObject({
        input_tokens: 20,
        output_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens_details: { reasoning_tokens: 6 },
      })
    }
  })

  test('receives a cap that the caller did not set if the key bounds the cost', async () => {
    const { key } = await app.createKey({ restrictions: { max_request_cost_usd: 0.001 } })
    upstream.script(responseOf(messageItem('x')))
    await post({ model: NATIVE, input: 'x' }, key)
    expect(sent().max_output_tokens).toBeGreaterThan(16)
    expect(sent().max_output_tokens).toBeLessThan(1000)
  })
})

describe('requests of a coding agent', () => {
  const agent = {
    model: CHAT_ONLY,
    instructions: 'You are an agent.',
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'session',
    client_metadata: { a: 'b' },
    parallel_tool_calls: false,
    reasoning: { effort: 'medium', summary: 'auto' },
    text: { verbosity: 'medium' },
    tools: [
      { type: 'function', name: 'now', strict: false, parameters: { type: 'object', properties: {} } },
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Edits',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      { type: 'local_shell' },
    ],
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'of another provider' },
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' },
      {
        type: 'local_shell_call',
        call_id: 'c2',
        action: { type: 'exec', command: ['ls'], env: {} },
        status: 'completed',
      },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      { type: 'function_call_output', call_id: 'c2', output: 'a.txt' },
    ],
  }
  const answerWith = (name: string, args: string) =>
    stream(
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [{ index: 0, id: 'c3', type: 'function', function: { name, arguments: args } }] }),
      chunk({}, 'tool_calls'),
      usageChunk(),
      DONE,
    )

  test('are served by chat completions: tools of its own become functions', async () => {
    upstream.script(answerWith('apply_patch', '{"input":"*** End"}'))
    const events = await collect(
      await client.responses.create(agent as unknown as OpenAI.Responses.ResponseCreateParamsStreaming),
    )
    expect(sent().messages).toEqual([
      { role: 'system', content: 'You are an agent.' },
      { role: 'system', content: 'Rules' },
      { role: 'user', content: 'Fix it' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' },
          },
          { id: 'c2', type: 'function', function: { name: 'local_shell', arguments: '{"command":["ls"]}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
      { role: 'tool', tool_call_id: 'c2', content: 'a.txt' },
    ])
    expect(sent().tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'now',
      'apply_patch',
      'local_shell',
    ])
    expect(sent()).not.toHaveProperty('client_metadata')
    const done = events.filter(event => event.type === 'response.output_item.done').map(({ item }) => item)
    expect(done).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', input: '*** End' },
    ])
    expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at))
  })

  test('get a call of its shell back as its own', async () => {
    upstream.script(answerWith('local_shell', '{"command":["ls","-l"],"timeout_ms":1000}'))
    const events = await collect(
      await client.responses.create(agent as unknown as OpenAI.Responses.ResponseCreateParamsStreaming),
    )
    const done = events.filter(event => event.type === 'response.output_item.done').map(({ item }) => item)
    expect(done).toMatchObject([
      {
        type: 'local_shell_call',
        call_id: 'c3',
        action: { type: 'exec', command: ['ls', '-l'], timeout_ms: 1000, env: {} },
      },
    ])
  })
})
