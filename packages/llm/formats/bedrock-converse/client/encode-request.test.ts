import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import { packToolCallId } from '../../shared/reasoning-carrier.ts'
import { bedrockConverse } from './client.ts'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const CLAUDE_3 = 'anthropic.claude-3-haiku-20240307-v1:0'
const OPUS = 'global.anthropic.claude-opus-4-8'
const LLAMA = 'us.meta.llama4-maverick-17b-instruct-v1:0'
const QWEN = 'qwen.qwen3-32b-v1:0'
const REQUEST: ChatRequest = { model: 'x', messages: [], stream: false, includeUsage: true }
const user = (content: Message['content']): Message => ({ role: 'user', content: content ?? null })
const weather = { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }
const call = (id: string, input = '{}') => ({
  id,
  type: 'function' as const,
  function: { name: 'weather', arguments: input },
})

function send(fields: Partial<ChatRequest>, model = CLAUDE, dropped: readonly string[] = []) {
  const target: Target = {
    provider: bedrock,
    model,
    baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    apiKey: '',
  }
  const { body, ...rest } = bedrockConverse.encodeRequest(
    { ...REQUEST, ...fields },
    target,
    undefined,
    dropped,
  )
  return { ...rest, body: JSON.parse(body.toString()) as any }
}

const encode = (fields: Partial<ChatRequest>, model?: string, dropped?: readonly string[]) =>
  send(fields, model, dropped).body
const unsupported = (fields: Partial<ChatRequest>, model = CLAUDE): readonly string[] =>
  bedrockConverse.findUnsupportedParams({ ...REQUEST, ...fields }, bedrock, model)

describe('messages', () => {
  test('an ARN is one segment of the path, encoded once', () => {
    const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
    expect(send({ stream: true }, arn).path).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fabc/converse-stream',
    )
  })

  test('what the system says at the start stands apart, later it is the user who tells it', () => {
    const { system, messages } = encode({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'developer', content: 'B' },
        user('Hi'),
        { role: 'system', content: 'C' },
      ],
    })
    expect(system).toEqual([{ text: 'A' }, { text: 'B' }])
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'Hi' }, { text: '<system>\nC\n</system>' }] },
    ])
  })

  test('a conversation begins with its user, blank texts are left out, a continued answer ends without white space', () => {
    expect(encode({ messages: [{ role: 'system', content: 'A' }] }).messages).toEqual([
      { role: 'user', content: [{ text: '.' }] },
    ])
    expect(encode({ messages: [{ role: 'assistant', content: 'Well, ' }] }).messages).toEqual([
      { role: 'user', content: [{ text: '.' }] },
      { role: 'assistant', content: [{ text: 'Well,' }] },
    ])
    expect(
      encode({
        messages: [
          user([
            { type: 'text', text: ' ' },
            { type: 'text', text: 'x' },
          ]),
        ],
      }).messages[0].content,
    ).toEqual([{ text: 'x' }])
  })

  test("all results of a turn's calls come first, whatever order they came in", () => {
    const { messages } = encode({
      tools: [weather],
      messages: [
        user('Go'),
        { role: 'assistant', content: null, tool_calls: [call('a', ''), call('b', 'not json')] },
        user('Wait'),
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'tool', tool_call_id: 'b', content: '' },
      ],
    })
    expect(messages[1].content.map((block: any) => block.toolUse.input)).toEqual([
      {},
      { arguments: 'not json' },
    ])
    expect(messages[2].content).toEqual([
      { toolResult: { toolUseId: 'a', content: [{ text: '1' }] } },
      { toolResult: { toolUseId: 'b', content: [{ json: {} }] } },
      { text: 'Wait' },
    ])
  })

  test('an id that does not fit becomes one that does, alike in call and result; ours lose what we packed', () => {
    const long = 'call.'.repeat(30)
    const packed = packToolCallId('tooluse_1', [
      { type: 'reasoning.text', format: 'google-gemini-v1', text: 'foreign' },
    ])
    const ids = [long, packed].map(id => {
      const { messages } = encode({
        tools: [weather],
        messages: [
          user('Go'),
          { role: 'assistant', tool_calls: [call(id)] },
          { role: 'tool', tool_call_id: id, content: '1' },
        ],
      })
      expect(messages[1].content).toHaveLength(1)
      expect(messages[2].content[0].toolResult.toolUseId).toBe(messages[1].content[0].toolUse.toolUseId)
      return messages[1].content[0].toolUse.toolUseId
    })
    expect(ids[0]).toMatch(/^call_[0-9a-f]{32}$/)
    expect(ids[1]).toBe('tooluse_1')
  })

  test('images, documents and cache marks become blocks', () => {
    const file = (filename: string) => ({
      type: 'file',
      file: { filename, file_data: 'data:application/pdf;base64,UERG' },
    })
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/jpg;base64,QUJD' } },
      file('My report_1.pdf'),
      { ...file('My report_1.pdf'), cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]
    const document = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: 'UERG' } } })
    expect(encode({ messages: [user(content)] }).messages[0].content).toEqual([
      { image: { format: 'jpeg', source: { bytes: 'QUJD' } } },
      document('My report 1 1'),
      document('My report 1 2'),
      { cachePoint: { type: 'default', ttl: '1h' } },
      { text: '.' },
    ])
    expect(JSON.stringify(encode({ messages: [user(content)] }, LLAMA))).not.toContain('cachePoint')
  })
})

describe('tools', () => {
  test('there is no choice none: nothing is told of tools, and former calls become words', () => {
    const body = encode({
      tools: [weather],
      toolChoice: 'none',
      messages: [
        user('Go'),
        { role: 'assistant', content: null, tool_calls: [call('a', '{"city":"Paris"}')] },
        { role: 'tool', tool_call_id: 'a', content: 'Sunny' },
      ],
    })
    expect(body).not.toHaveProperty('toolConfig')
    expect(body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ text: 'Called the tool weather with {"city":"Paris"}' }] },
      { role: 'user', content: [{ text: 'Result of the tool weather: Sunny' }] },
    ])
  })

  test('who must call a tool cannot think first; who cannot be made to is refused by name', () => {
    const forced = { tools: [weather], toolChoice: 'required' as const, reasoningEffort: 'high' }
    expect(encode(forced).toolConfig.toolChoice).toEqual({ any: {} })
    expect(encode(forced)).not.toHaveProperty('additionalModelRequestFields')
    expect(unsupported({ tools: [weather], toolChoice: 'required' }, LLAMA)).toEqual(['tool_choice'])
    expect(
      unsupported({ tools: [weather], toolChoice: 'required' }, 'mistral.mistral-large-2402-v1:0'),
    ).toEqual([])
  })
})

describe('formats', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } }
  const responseFormat = { type: 'json_schema' as const, json_schema: { name: 'N', schema } }
  const textFormat = (body: JsonObject): any => (body.outputConfig as any)?.textFormat.structure.jsonSchema

  test('by the model itself: the schema is a text; Claude’s has its bounds in words', () => {
    expect(JSON.parse(textFormat(encode({ responseFormat }, QWEN)).schema)).toEqual(schema)
    expect(JSON.parse(textFormat(encode({ responseFormat })).schema).properties.n).toEqual({
      type: 'integer',
      description: '{minimum: 1}',
    })
  })

  test('by a tool that must be called, whose call is the answer; with tools of the caller’s it calls some tool', () => {
    const body = encode({ responseFormat }, CLAUDE_3)
    expect(body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'rideau_json_output', inputSchema: { json: schema } } }],
      toolChoice: { tool: { name: 'rideau_json_output' } },
    })
    expect(encode({ responseFormat, tools: [weather] }, CLAUDE_3).toolConfig.toolChoice).toEqual({ any: {} })
    const target: Target = { provider: bedrock, model: CLAUDE_3, baseUrl: '', apiKey: '' }
    const answer = {
      output: {
        message: { content: [{ toolUse: { toolUseId: 't', name: 'rideau_json_output', input: { n: 3 } } }] },
      },
      stopReason: 'tool_use',
    }
    expect(bedrockConverse.decodeReply(answer, target).choices).toEqual([
      { index: 0, message: { role: 'assistant', content: '{"n":3}' }, finishReason: 'stop' },
    ])
    const decoder = bedrockConverse.openStream(target)
    const start = { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'rideau_json_output' } } }
    const events = [
      ...decoder.decode(JSON.stringify(start), 'contentBlockStart'),
      ...decoder.decode('{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}', 'contentBlockDelta'),
      ...decoder.decode('{"contentBlockIndex":0}', 'contentBlockStop'),
      ...decoder.decode('{"stopReason":"tool_use"}', 'messageStop'),
    ]
    expect(events).toEqual([
      { type: 'delta', index: 0, content: '{}' },
      { type: 'delta', index: 0, finishReason: 'stop' },
    ])
  })

  test('what the model does not do by itself is told to be emulated', () => {
    expect(send({ responseFormat }, QWEN)).not.toHaveProperty('emulated')
    expect(send({}, LLAMA)).not.toHaveProperty('emulated')
    for (const model of [CLAUDE_3, LLAMA]) {
      expect(send({ responseFormat }, model)).toMatchObject({ emulated: ['response_format'] })
    }
  })

  test('by words, where neither is', () => {
    expect(encode({ responseFormat }, LLAMA).system.at(-1).text).toContain(JSON.stringify(schema))
    expect(encode({ responseFormat: { type: 'json_object' } }, LLAMA).system).toHaveLength(1)
  })
})

describe('parameters', () => {
  test('an effort in the words of each maker and generation', () => {
    const asked = (model: string, reasoningEffort: string, fields: Partial<ChatRequest> = {}) =>
      encode({ reasoningEffort, ...fields }, model).additionalModelRequestFields
    expect(asked(CLAUDE, 'high')).toEqual({ thinking: { type: 'enabled', budget_tokens: 24_576 } })
    expect(asked(CLAUDE, 'high', { maxOutputTokens: 4000 })).toEqual({
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })
    expect(asked(CLAUDE, 'high', { maxOutputTokens: 1000 })).toBeUndefined()
    expect(asked('us.anthropic.claude-sonnet-4-6', 'minimal')).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    })
    expect(asked(OPUS, 'xhigh')).toEqual({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'xhigh' },
    })
    expect(asked('openai.gpt-oss-120b-1:0', 'none')).toEqual({ reasoning_effort: 'low' })
    expect(asked('us.amazon.nova-2-lite-v1:0', 'high')).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
    })
    expect(asked(LLAMA, 'high')).toBeUndefined()
    expect(unsupported({ reasoningEffort: 'high' }, LLAMA)).toEqual(['reasoning_effort'])
    expect(unsupported({ reasoningEffort: 'none' }, LLAMA)).toEqual([])
  })

  test('a turn amid calls whose thinking another provider did is answered without thinking', () => {
    const messages: Message[] = [
      user('Go'),
      { role: 'assistant', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
    ]
    expect(encode({ messages, tools: [weather], reasoningEffort: 'high' })).not.toHaveProperty(
      'additionalModelRequestFields',
    )
  })

  test('sampling that newer models refuse is named, and 1 says nothing', () => {
    expect(unsupported({ temperature: 0.5, topP: 0.5 }, OPUS)).toEqual(['temperature', 'top_p'])
    expect(unsupported({ temperature: 0.5, topP: 0.5 })).toEqual(['top_p'])
    expect(unsupported({ temperature: 0.5, reasoningEffort: 'low' })).toEqual(['temperature'])
    expect(unsupported({ temperature: 0.5, topP: 0.5 }, LLAMA)).toEqual([])
    expect(encode({ temperature: 1, topP: 1 }, OPUS)).not.toHaveProperty('inferenceConfig')
    expect(encode({ temperature: 2, topP: 0.5 }, LLAMA).inferenceConfig).toEqual({
      temperature: 1,
      topP: 0.5,
    })
    expect(encode({ temperature: 0.5 }, OPUS, ['temperature'])).not.toHaveProperty('inferenceConfig')
  })

  test('the rest that has no place is named', () => {
    expect(
      unsupported({ seed: 1, presencePenalty: 1, frequencyPenalty: 0, parallelToolCalls: false }),
    ).toEqual(['seed', 'presence_penalty', 'parallel_tool_calls'])
    expect(unsupported({ messages: [user([{ type: 'file', file: { file_id: 'f' } }])] })).toEqual(['file_id'])
  })

  test("what the caller wrote for this provider is merged in; the output cap stays the gateway's", () => {
    const providerOptions = {
      bedrock: {
        guardrailConfig: { guardrailIdentifier: 'g' },
        inferenceConfig: { maxTokens: 999_999, topP: 0.9 },
      },
    }
    expect(encode({ providerOptions, maxOutputTokens: 5 })).toMatchObject({
      guardrailConfig: { guardrailIdentifier: 'g' },
      inferenceConfig: { maxTokens: 5, topP: 0.9 },
    })
    expect(encode({ providerOptions }).inferenceConfig).toEqual({ topP: 0.9 })
  })
})
