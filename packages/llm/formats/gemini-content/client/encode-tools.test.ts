import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { gemini } from '../../../providers/gemini.ts'
import { vertex } from '../../../providers/vertex.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { encodeRequest } from './encode-request.ts'

const send = (
  fields: Partial<ChatRequest>,
  model = 'gemini-2.5-flash',
  provider = gemini,
): EncodedRequest => {
  const target: Target = { provider, model, baseUrl: 'https://a.example/v1beta', apiKey: 'k' }
  const messages: Message[] = [{ role: 'user', content: 'Hi' }]
  const request = { model: 'm', messages, stream: false, includeUsage: false, ...fields }
  return encodeRequest(request, target, undefined)
}
const encode = (fields: Partial<ChatRequest>, model?: string): JsonObject =>
  JSON.parse(send(fields, model).body.toString())
const contents = (messages: readonly Message[]): unknown => encode({ messages }).contents

const call = (id: string, name: string, text = '{}'): NonNullable<Message['tool_calls']>[number] => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})

describe('tools', () => {
  test('a result has the name of its call', () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('c1', 'now', '{"tz":"UTC"}'), call('c2', 'list', '')],
      },
      { role: 'tool', tool_call_id: 'c1', content: '12:00' },
      { role: 'tool', tool_call_id: 'c2', content: '{"items":[1]}' },
      { role: 'user', content: 'Thanks' },
    ]
    expect(contents(messages)).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'c1', name: 'now', args: { tz: 'UTC' } } },
          { functionCall: { id: 'c2', name: 'list', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'now', response: { result: '12:00' } } },
          { functionResponse: { id: 'c2', name: 'list', response: { items: [1] } } },
          { text: 'Thanks' },
        ],
      },
    ])
  })

  test('a result may be a list, and its images follow it', () => {
    const messages: Message[] = [
      { role: 'assistant', tool_calls: [call('c1', 'f')] },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [
          { type: 'text', text: '[1,2]' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ]
    expect((contents(messages) as JsonObject[])[1]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 'f', response: { result: [1, 2] } } },
        { inlineData: { mimeType: 'image/png', data: 'AA' } },
      ],
    })
  })

  test('ids that the gateway made are not sent', () => {
    const id = `call_${'0a'.repeat(12)}`
    expect(
      contents([
        { role: 'assistant', tool_calls: [call(id, 'f')] },
        { role: 'tool', tool_call_id: id, content: 'x' },
      ]),
    ).toEqual([
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 'x' } } }] },
    ])
  })

  test('ids of calls are sent to Vertex AI for Gemini 3 and newer only', () => {
    const messages: Message[] = [
      { role: 'assistant', tool_calls: [call('toolu_1', 'f')] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'x' },
    ]
    const of = (model: string): string => send({ messages }, model, vertex).body.toString()
    for (const model of ['gemini-2.5-pro', 'gemini-2.0-flash-001', 'gemini-1.5-pro']) {
      expect(of(model)).not.toContain('toolu_1')
    }
    expect(of('gemini-3-flash-preview').match(/"id":"toolu_1"/g)).toHaveLength(2)
  })

  test('a function that takes any parameters keeps its schema', () => {
    const parameters = { type: 'object', additionalProperties: true }
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }]
    expect(encode({ tools }).tools).toEqual([
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] },
    ])
  })

  test('functions are declared in one tool, without a schema if they have no parameters', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string', minLength: 1 } } }
    const tools = [
      { type: 'function' as const, function: { name: 'f', description: 'F', parameters, strict: true } },
      { type: 'function' as const, function: { name: 'g', parameters: { type: 'object', properties: {} } } },
    ]
    expect(encode({ tools, toolChoice: 'auto' })).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { name: 'f', description: 'F', parametersJsonSchema: parameters },
            { name: 'g' },
          ],
        },
      ],
    })
    const config = (toolChoice: NonNullable<ChatRequest['toolChoice']>): unknown =>
      encode({ tools, toolChoice }).toolConfig
    const calling = (fields: object): object => ({ functionCallingConfig: fields })
    expect(config('auto')).toBeUndefined()
    expect(config('none')).toEqual(calling({ mode: 'NONE' }))
    expect(config('required')).toEqual(calling({ mode: 'ANY' }))
    expect(config({ type: 'function', function: { name: 'f' } })).toEqual(
      calling({ mode: 'ANY', allowedFunctionNames: ['f'] }),
    )
    expect(encode({ toolChoice: 'required' })).not.toHaveProperty('toolConfig')
  })
})

describe('a response format beside functions', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const tools = [{ type: 'function' as const, function: { name: 'f' } }]
  const responseFormat = { type: 'json_schema' as const, json_schema: { name: 'a', schema } }
  const config = { responseMimeType: 'application/json', responseJsonSchema: schema }

  test('becomes an instruction, named as emulated, for models before Gemini 3', () => {
    const sent = send({ tools, responseFormat, temperature: 0 }, 'gemini-2.5-pro')
    const body = JSON.parse(sent.body.toString())
    expect(body.generationConfig).toEqual({ temperature: 0 })
    expect(body.systemInstruction.parts[0].text).toContain(JSON.stringify(schema))
    expect(body.tools).toHaveLength(1)
    expect(sent.emulated).toEqual(['response_format'])
    expect(encode({ tools, responseFormat: { type: 'json_object' } })).toMatchObject({
      systemInstruction: { parts: [{ text: expect.stringMatching(/one JSON object only.*text\.$/) }] },
    })
    const messages: Message[] = [
      { role: 'system', content: 'One.' },
      { role: 'user', content: 'Hi' },
    ]
    expect(encode({ tools, responseFormat: { type: 'json_object' }, messages })).toMatchObject({
      systemInstruction: { parts: [{ text: 'One.' }, { text: expect.stringContaining('one JSON object') }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    })
  })

  test('is sent in its place for Gemini 3', () => {
    const sent = send({ tools, responseFormat }, 'gemini-3-flash-preview')
    expect(JSON.parse(sent.body.toString())).toMatchObject({ generationConfig: config, tools: [{}] })
    expect(sent).not.toHaveProperty('emulated')
  })

  test('is sent without the functions if none may be called', () => {
    const sent = send({ tools, toolChoice: 'none', responseFormat })
    expect(JSON.parse(sent.body.toString())).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: config,
    })
    expect(sent).not.toHaveProperty('emulated')
  })
})
