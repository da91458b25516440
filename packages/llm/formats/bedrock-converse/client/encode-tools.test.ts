import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ResponseFormat } from '../../../request/response-format.ts'
import { bedrockConverse } from './client.ts'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const OPUS = 'us.anthropic.claude-opus-4-6-v1'
const weather = { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }

function encode(fields: Partial<ChatRequest>, model = CLAUDE): JsonObject {
  const request: ChatRequest = { model: 'x', messages: [], stream: false, includeUsage: true, ...fields }
  const target = { provider: bedrock, model, baseUrl: 'https://a.example', apiKey: '' }
  return JSON.parse(bedrockConverse.encodeRequest(request, target, undefined).body.toString())
}

describe('a response format as a tool of ours, of a model that thinks', () => {
  const format = (schema: JsonObject): ResponseFormat => ({
    type: 'json_schema',
    json_schema: { name: 'N', schema },
  })
  const closed = format({ type: 'object', properties: { n: { type: 'integer' } } })
  const map = format({ type: 'object', additionalProperties: { type: 'integer' } })

  test.each<[string, string, ResponseFormat]>([
    ['any object', CLAUDE, { type: 'json_object' }],
    ['any object by effort', OPUS, { type: 'json_object' }],
    ['a schema before structured output', 'us.anthropic.claude-sonnet-4-20250514-v1:0', closed],
    ['a schema before structured output', 'us.anthropic.claude-3-7-sonnet-20250219-v1:0', closed],
    ['a schema that structured output does not know', CLAUDE, map],
  ])('is asked for in words, because thinking excludes a forced call: %s, %s', (_, model, responseFormat) => {
    const body = encode({ responseFormat, reasoningEffort: 'low' }, model)
    expect(body).toMatchObject({
      additionalModelRequestFields: { thinking: {} },
      toolConfig: { tools: [{ toolSpec: { name: 'rideau_json_output' } }] },
      system: [{ text: expect.stringContaining('by calling the tool rideau_json_output') }],
    })
    expect(body.toolConfig).not.toHaveProperty('toolChoice')
  })

  test('keeps the choice among the caller’s tools', () => {
    const auto = {
      responseFormat: map,
      reasoningEffort: 'low',
      tools: [weather],
      toolChoice: 'auto' as const,
    }
    expect(encode(auto).toolConfig).toMatchObject({ tools: [{}, {}], toolChoice: { auto: {} } })
  })

  const forced = { tool: { name: 'rideau_json_output' } }
  test.each<[string, string, Partial<ChatRequest>, JsonObject]>([
    ['the caller forces a call', CLAUDE, { tools: [weather], toolChoice: 'required' }, { any: {} }],
    ['the cap is too low', CLAUDE, { maxOutputTokens: 1000 }, forced],
    ['the effort is none', CLAUDE, { reasoningEffort: 'none' }, forced],
    ['the effort is none', OPUS, { reasoningEffort: 'none' }, forced],
  ])('is a forced call where the model does not think, because %s: %s', (_, model, fields, toolChoice) => {
    const body = encode({ responseFormat: map, reasoningEffort: 'low', ...fields }, model)
    expect(body.toolConfig).toMatchObject({ toolChoice })
    expect(body).not.toHaveProperty('system')
  })
})

test('a schema of parameters without a type is one of an object, as Converse demands', () => {
  const parameters = { properties: { city: { type: 'string' } } }
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
  expect(encode({ tools }).toolConfig).toMatchObject({
    tools: [{ toolSpec: { inputSchema: { json: { type: 'object', ...parameters } } } }],
  })
})

test('half a surrogate pair is replaced wherever it stands', () => {
  const half = 'a\ud83d'
  const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"a":"\\ud83d"}' } }
  const { messages } = encode({
    tools: [weather],
    messages: [
      { role: 'user', content: half },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: half },
    ],
  }) as { messages: { content: JsonObject[] }[] }
  expect(messages.map(({ content }) => content[0])).toEqual([
    { text: 'a\ufffd' },
    { toolUse: { toolUseId: 'c', name: 'f', input: { a: '\ufffd' } } },
    { toolResult: { toolUseId: 'c', content: [{ text: 'a\ufffd' }] } },
  ])
})
