import { describe, expect, test } from 'vitest'
import { scanJson } from '../../../json/json-scan.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FormatId } from '../../../request/format-id.ts'
import type { Message } from '../../../request/message.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { Target } from '../../../upstream/target.ts'
import { FIELDS as OPENAI_FIELDS } from '../../openai-chat/wire/fields.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { packReasoning } from '../wire/carried-reasoning.ts'
import { openAiResponses } from './client.ts'

const at = (model: string, more: Partial<Target> = {}): Target => ({
  provider: findProvider('openai') as Provider,
  model,
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'k',
  ...more,
})
const ask = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  stream: false,
  includeUsage: false,
  ...fields,
})

function toSource(body: JsonObject, format: FormatId): SourceBody {
  const bytes = Buffer.from(JSON.stringify(body))
  const scan = scanJson(bytes)
  if (!scan.ok) throw new Error('bad test')
  return { format, bytes, value: scan.value as JsonObject, fields: scan.fields }
}

function encode(
  request: ChatRequest,
  target = at('gpt-5'),
  source?: SourceBody,
  dropped?: string[],
): JsonObject {
  return JSON.parse(
    openAiResponses.encodeRequest(request, target, source, dropped).body.toString(),
  ) as JsonObject
}

const inputOf = (...messages: Message[]): unknown => encode(ask({ messages })).input

describe('a chat as a Responses request', () => {
  test('asks for no state, and for encrypted reasoning if the model reasons', () => {
    const body = encode(ask())
    expect(body).toEqual({
      model: 'gpt-5',
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
      store: false,
      include: ['reasoning.encrypted_content'],
    })
    expect(encode(ask(), at('gpt-4o')).include).toBeUndefined()
  })

  test('has parameters under this format’s names, and no cap below what the provider takes', () => {
    const body = encode(
      ask({
        stream: true,
        maxOutputTokens: 5,
        reasoningEffort: 'low',
        parallelToolCalls: false,
        toolChoice: { type: 'function', function: { name: 'now' } },
        tools: [
          {
            type: 'function',
            function: { name: 'now', description: 'Time', parameters: { type: 'object' } },
          },
          { type: 'function', function: { name: 'bare' } },
        ],
        responseFormat: {
          type: 'json_schema',
          json_schema: { name: 'x', schema: { type: 'object' }, strict: true },
        },
      }),
    )
    expect(body).toMatchObject({
      stream: true,
      max_output_tokens: 16,
      reasoning: { effort: 'low' },
      parallel_tool_calls: false,
      tool_choice: { type: 'function', name: 'now' },
      tools: [
        { type: 'function', name: 'now', description: 'Time', parameters: { type: 'object' }, strict: false },
        { type: 'function', name: 'bare', parameters: { type: 'object', properties: {} }, strict: false },
      ],
      text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true } },
    })
  })

  test('has an item for each kind of message', () => {
    expect(
      inputOf(
        { role: 'developer', content: 'Be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'https://a.example/x.png', detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Calling',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } }],
        },
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: [
            { type: 'text', text: 'no' },
            { type: 'text', text: 'on' },
          ],
        },
        { role: 'assistant', content: null, refusal: 'I cannot' },
      ),
    ).toEqual([
      { type: 'message', role: 'developer', content: 'Be brief' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: 'https://a.example/x.png', detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Calling', annotations: [] }],
      },
      { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'noon' },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot' }] },
    ])
  })

  describe('reasoning of an earlier message', () => {
    const detail = (id: string): ReasoningDetail => ({
      type: 'reasoning.encrypted',
      format: 'openai-responses-v1',
      data: `secret of ${id}`,
      id,
    })
    const call = (id: string, ...details: ReasoningDetail[]) => ({
      id: packToolCallId(id, details),
      type: 'function' as const,
      function: { name: 'now', arguments: '{}' },
    })
    const item = (id: string) => ({
      type: 'reasoning',
      id,
      summary: [],
      encrypted_content: `secret of ${id}`,
    })
    const wireCall = (id: string) => ({ type: 'function_call', call_id: id, name: 'now', arguments: '{}' })

    test('is taken from the ids of tool calls, and each piece stands before its call', () => {
      expect(
        inputOf(
          {
            role: 'assistant',
            content: null,
            tool_calls: [call('c1', detail('r1')), call('c2'), call('c3', detail('r3'))],
          },
          { role: 'tool', tool_call_id: packToolCallId('c1', [detail('r1')]), content: 'x' },
        ),
      ).toEqual([
        item('r1'),
        wireCall('c1'),
        wireCall('c2'),
        item('r3'),
        wireCall('c3'),
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
      ])
    })

    test('is sent once, with its summary, if the message and the ids both have it', () => {
      const summary: ReasoningDetail = {
        type: 'reasoning.summary',
        format: 'openai-responses-v1',
        summary: 'Hm',
        id: 'r1',
      }
      const details = [summary, detail('r1')]
      const message = {
        role: 'assistant' as const,
        content: 'So',
        reasoning_details: details,
        tool_calls: [call('c1', ...details)],
      }
      expect(inputOf(message)).toEqual([
        { ...item('r1'), summary: [{ type: 'summary_text', text: 'Hm' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'So', annotations: [] }],
        },
        wireCall('c1'),
      ])
    })

    test('comes from the ids too if the client kept the last piece alone', () => {
      const kept = { ...detail('r2'), index: 1, via: 'direct' }
      const calls = [call('c1', detail('r1')), call('c2', detail('r2'))]
      expect(
        inputOf({ role: 'assistant', content: null, reasoning_details: [kept], tool_calls: calls }),
      ).toEqual([item('r1'), wireCall('c1'), item('r2'), wireCall('c2')])
    })

    test('is left out if another provider of the format made it, from the ids and from the message', () => {
      const foreign = { ...detail('r1'), via: 'azure' }
      const own = { ...detail('r2'), via: 'openai' }
      const inputOfTurn = (reasoning_details: ReasoningDetail[], ...tool_calls: ReturnType<typeof call>[]) =>
        inputOf({ role: 'assistant', content: null, reasoning_details, tool_calls })
      const [foreignCall, ownCall] = [call('c1', foreign), call('c2', own)]
      const sent = [wireCall('c1'), item('r2'), wireCall('c2')]
      expect(inputOfTurn([foreign, own], foreignCall, ownCall)).toEqual(sent)
      // A client that drops the mark: the ids tell whose it is.
      expect(inputOfTurn([detail('r1')], foreignCall)).toEqual([wireCall('c1')])
      expect(inputOfTurn([detail('r2')], ownCall)).toEqual([item('r2'), wireCall('c2')])
    })

    test('is left out if another format made it', () => {
      const foreign: ReasoningDetail = {
        type: 'reasoning.text',
        format: 'anthropic-claude-v1',
        text: 'x',
        signature: 's',
      }
      expect(inputOf({ role: 'assistant', content: null, tool_calls: [call('c1', foreign)] })).toEqual([
        wireCall('c1'),
      ])
    })
  })

  test('has the extra fields that both formats know, and verbosity in text', () => {
    const written = {
      model: 'x',
      messages: [],
      metadata: { a: 'b' },
      store: true,
      verbosity: 'low',
      user: 'u',
    }
    const extra = OPENAI_FIELDS.readExtra(written)
    expect(encode(ask({ user: 'u', ...(extra && { extra }) }), at('gpt-5'))).toMatchObject({
      metadata: { a: 'b' },
      store: true,
      text: { verbosity: 'low' },
      user: 'u',
    })
  })

  test('has no dropped parameter; other fields of the same name as a dropped one stay', () => {
    const asked = ask({ maxOutputTokens: 99, topP: 0.5, reasoningEffort: 'low', user: 'u' })
    const dropped = ['top_p', 'user', 'reasoning', 'max_output_tokens', 'input', 'text']
    const body = encode(asked, at('gpt-5.1'), undefined, dropped)
    expect(body).toMatchObject({ max_output_tokens: 99, reasoning: { effort: 'low' }, input: [{}] })
    expect(body).not.toHaveProperty('top_p')
    expect(body).not.toHaveProperty('user')
  })

  test('has no metadata of the native format, which is for the log only', () => {
    const source = toSource({ model: 'x', messages: [], metadata: { a: 'b' } }, 'native')
    expect(encode(ask(), at('gpt-5'), source).metadata).toBeUndefined()
  })
})

describe('a request in this format passes through', () => {
  const written = {
    model: 'openai/gpt-5',
    input: [{ role: 'user', content: 'é' }],
    text: { verbosity: 'low' },
    unheard_of: 1.0,
    temperature: 1,
  }

  test('with the provider’s name of the model, and with unknown fields', () => {
    const body = encode(ask(), at('gpt-4o'), toSource(written, 'openai-responses'))
    expect(body).toEqual({ ...written, model: 'gpt-4o' })
  })

  test('with the lower cap that the gateway decided, and without fields that the model refuses', () => {
    const body = encode(
      ask({ maxOutputTokens: 100 }),
      at('gpt-5'),
      toSource({ ...written, max_output_tokens: 500 }, 'openai-responses'),
    )
    expect(body).toMatchObject({ max_output_tokens: 100 })
    expect(body.temperature).toBeUndefined()
  })
})

describe('the output cap of a body that passes through', () => {
  const pass = (received: number, decided: number): unknown => {
    const source = toSource({ ...BODY, max_output_tokens: received }, 'openai-responses')
    const request = ask({ maxOutputTokens: decided, receivedOutputCap: received })
    return encode(request, at('gpt-4o'), source).max_output_tokens
  }
  const BODY = { model: 'x', input: 'x' }

  test('stays as the caller wrote it, also below what the provider takes', () => {
    expect(pass(5, 5)).toBe(5)
  })

  test('is the lower one that the gateway decided, but not below what the provider takes', () => {
    expect([pass(500, 100), pass(500, 7)]).toEqual([100, 16])
  })
})

describe('state of another provider in a body that passes through', () => {
  const foreign: ReasoningDetail = { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'x' }
  const packed = packToolCallId('c1', [foreign])
  const call = { type: 'function_call', call_id: packed, name: 'f', arguments: '{}' }
  const own = { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'secret' }
  const carried = { ...own, encrypted_content: packReasoning([foreign]) }
  const items = [{ role: 'user', content: packed }, own, carried, call]

  test('is left out, and everything else of the input stays', () => {
    const source = toSource({ model: 'x', input: items }, 'openai-responses')
    expect(encode(ask({ carriesReasoning: true }), at('gpt-4o'), source).input).toEqual([
      { role: 'user', content: packed },
      own,
      { ...call, call_id: 'c1' },
    ])
  })

  test('leaves the bytes as they came if the parser found none', () => {
    const source = toSource({ model: 'gpt-4o', input: items.slice(0, 2) }, 'openai-responses')
    const { body } = openAiResponses.encodeRequest(ask(), at('gpt-4o'), source)
    expect(body).toEqual(source.bytes)
  })
})

describe('unsupported parameters', () => {
  const find = (request: Partial<ChatRequest>, model: string, source?: SourceBody): readonly string[] =>
    openAiResponses.listUnsupportedParams(ask(request), at(model).provider, model, source)

  test('are those without a field in the format, unless they ask for nothing', () => {
    expect(find({ stop: ['x'], seed: 1, presencePenalty: 0, frequencyPenalty: 1 }, 'gpt-4o')).toEqual([
      'stop',
      'seed',
      'frequency_penalty',
    ])
    const extra = OPENAI_FIELDS.readExtra({
      model: 'x',
      messages: [],
      logprobs: true,
      n: 1,
      modalities: ['audio'],
    })
    expect(find({ ...(extra && { extra }) }, 'gpt-4o')).toEqual(['logprobs', 'modalities'])
  })

  test('are sampling parameters of models that reason, always or while they reason', () => {
    expect(find({ temperature: 0.5, topP: 1 }, 'gpt-5')).toEqual(['temperature'])
    expect(find({ temperature: 0.5 }, 'gpt-5.1')).toEqual([])
    expect(find({ temperature: 0.5, reasoningEffort: 'low' }, 'gpt-5.1')).toEqual(['temperature'])
    expect(find({ temperature: 0.5 }, 'gpt-5.5')).toEqual(['temperature'])
    expect(find({ temperature: 0.5, reasoningEffort: 'none' }, 'gpt-5.5')).toEqual([])
    expect(find({ temperature: 0.5 }, 'gpt-5-chat-latest')).toEqual([])
    const source = toSource({ model: 'x', input: 'x', temperature: 0.5 }, 'openai-responses')
    expect(find({ temperature: 0.5 }, 'o3', source)).toEqual(['temperature'])
    const extra = new Map([['top_logprobs', 2]])
    expect(find({ extra }, 'o3', source)).toEqual(['top_logprobs'])
    expect(find({ temperature: 1 }, 'o3', source)).toEqual([])
  })
})

describe('deployments', () => {
  const provider = findProvider('azure') as Provider
  const baseUrl = 'https://mine.openai.azure.com/openai/v1'
  const pathOf = (options: JsonObject): string =>
    openAiResponses.encodeRequest(ask(), at('gpt-5', { provider, baseUrl, options }), undefined).path

  test('are reached by the newer path, or by the older one with an API version', () => {
    expect(pathOf({})).toBe('/openai/v1/responses')
    expect(pathOf({ api_version: '2025-04-01-preview' })).toBe(
      '/openai/responses?api-version=2025-04-01-preview',
    )
  })

  test('are named in place of the model', () => {
    const options = { deployments: { 'gpt-5': 'my gpt', constructor: 'x' } }
    expect(encode(ask(), at('gpt-5', { provider, baseUrl, options })).model).toBe('my gpt')
    expect(encode(ask(), at('toString', { provider, baseUrl, options })).model).toBe('toString')
  })
})
