import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import { findForbidden } from '../../../upstream/outgoing-body.ts'
import type { Grant } from '../../../upstream/outgoing-rules.ts'
import type { Target } from '../../../upstream/target.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { bedrockConverse } from './client.ts'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const CLAUDE_3 = 'anthropic.claude-3-haiku-20240307-v1:0'
const OPUS = 'global.anthropic.claude-opus-4-8'
const LLAMA = 'us.meta.llama4-maverick-17b-instruct-v1:0'
const QWEN = 'qwen.qwen3-32b-v1:0'
const REQUEST: ChatRequest = { model: 'x', messages: [], stream: false, includeUsage: true }
const GRANT: Grant = {
  sender: 'key',
  model: CLAUDE,
  isStream: false,
  choices: 1,
  maxOutputTokens: undefined,
  addresses: 'any',
}
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
  bedrockConverse.listUnsupportedParams({ ...REQUEST, ...fields }, bedrock, model)

describe('messages', () => {
  test('an ARN is one segment of the path, encoded once', () => {
    const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
    expect(send({ stream: true }, arn).path).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fabc/converse-stream',
    )
  })

  test('instructions at the beginning become system, later ones a marked text of the user', () => {
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

  test('the first turn is the user’s, blank texts are left out, an answer to continue loses white space at its end', () => {
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

  test('results of calls come first in their turn, whatever their order in the request', () => {
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

  test('replaces an id that is not allowed, alike in call and result, and removes reasoning from ids', () => {
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

  test('encodes images, documents and cache marks as blocks', () => {
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
  test('the choice none leaves out the tools, and earlier calls become texts', () => {
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

  test('a forced call excludes thinking, and is unsupported by models that cannot be forced', () => {
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

  test('a model that takes a schema gets it as text, Claude’s with bounds in descriptions', () => {
    expect(JSON.parse(textFormat(encode({ responseFormat }, QWEN)).schema)).toEqual(schema)
    expect(JSON.parse(textFormat(encode({ responseFormat })).schema).properties.n).toEqual({
      type: 'integer',
      description: '{minimum: 1}',
    })
  })

  test('Claude is forced to call a tool for a schema whose properties have any name, which its own output cannot have', () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } }
    const asked = {
      responseFormat: { type: 'json_schema' as const, json_schema: { name: 'N', schema: map } },
    }
    const body = encode(asked)
    expect(textFormat(body)).toBeUndefined()
    expect(body.toolConfig.tools[0].toolSpec.inputSchema.json).toEqual(map)
    expect(JSON.parse(textFormat(encode(asked, QWEN)).schema)).toEqual(map)
  })

  test('another model is forced to call a tool whose input is the answer, or any tool beside tools of the caller', () => {
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

  test('reports response_format as emulated for a model without schemas', () => {
    expect(send({ responseFormat }, QWEN)).not.toHaveProperty('emulated')
    expect(send({}, LLAMA)).not.toHaveProperty('emulated')
    for (const model of [CLAUDE_3, LLAMA]) {
      expect(send({ responseFormat }, model)).toMatchObject({ emulated: ['response_format'] })
    }
  })

  test('a model without schemas and forced calls gets an instruction', () => {
    expect(encode({ responseFormat }, LLAMA).system.at(-1).text).toContain(JSON.stringify(schema))
    expect(encode({ responseFormat: { type: 'json_object' } }, LLAMA).system).toHaveLength(1)
  })
})

describe('parameters', () => {
  test('an effort in the form of each maker and generation', () => {
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

  test('after calls of another provider no thinking is requested', () => {
    const messages: Message[] = [
      user('Go'),
      { role: 'assistant', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
    ]
    expect(encode({ messages, tools: [weather], reasoningEffort: 'high' })).not.toHaveProperty(
      'additionalModelRequestFields',
    )
  })

  test('sampling that newer models refuse is unsupported, except the default of 1', () => {
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

  test('a stop sequence of white space is unsupported, and the others are sent without it', () => {
    expect(unsupported({ stop: ['x', ' \n'] })).toEqual(['stop'])
    expect(unsupported({ stop: ['x'] })).toEqual([])
    expect(encode({ stop: ['x', ' '] }).inferenceConfig).toEqual({ stopSequences: ['x'] })
  })

  test.each([{ file_id: 'f' }, { file_url: 'https://a.example/f.pdf' }])(
    'the file %j is unsupported, and left out of the message',
    file => {
      const messages = [
        user([
          { type: 'file', file },
          { type: 'text', text: 'Sum it up.' },
        ]),
      ]
      expect(unsupported({ messages })).toEqual(['file_id'])
      expect(encode({ messages }, CLAUDE, ['file_id']).messages).toEqual([
        { role: 'user', content: [{ text: 'Sum it up.' }] },
      ])
    },
  )

  test('parameters without a field are unsupported', () => {
    expect(
      unsupported({ seed: 1, presencePenalty: 1, frequencyPenalty: 0, parallelToolCalls: false }),
    ).toEqual(['seed', 'presence_penalty', 'parallel_tool_calls'])
  })

  test('merges in the options for this provider, except an output cap', () => {
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

  test('options with an output cap are reported as reserved and stay unchanged', () => {
    const providerOptions = { bedrock: { inferenceConfig: { maxTokens: 999_999 } } }
    for (const fields of [{}, { temperature: 0.5 }, { maxOutputTokens: 5 }]) {
      const { content } = send({ providerOptions, ...fields })
      expect(content && findForbidden(content, GRANT)).toBe(
        'provider_options.bedrock.inferenceConfig.maxTokens',
      )
    }
    expect(providerOptions.bedrock.inferenceConfig).toEqual({ maxTokens: 999_999 })
  })

  test('parameters that the model refuses are not sent, nor those that the environment drops', () => {
    const forced = { tools: [weather], toolChoice: 'required' as const }
    expect(encode(forced, LLAMA).toolConfig).not.toHaveProperty('toolChoice')
    expect(encode({ temperature: 0.5, topP: 0.5 }, OPUS)).not.toHaveProperty('inferenceConfig')
    const dropped = encode({ reasoningEffort: 'high', temperature: 0.5 }, CLAUDE, ['reasoning_effort'])
    expect(dropped).not.toHaveProperty('additionalModelRequestFields')
    expect(dropped.inferenceConfig).toEqual({ temperature: 0.5 })
  })

  test('blank stop sequences are left out', () => {
    expect(encode({ stop: [' ', 'x'] }).inferenceConfig).toEqual({ stopSequences: ['x'] })
    expect(encode({ stop: ['\n'] })).not.toHaveProperty('inferenceConfig')
  })
})
