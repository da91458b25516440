import { describe, expect, test } from 'vitest'
import { type JsonObject, toArray } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import type { Target } from '../../../upstream/target.ts'
import { FIELDS as OPENAI_FIELDS } from '../../openai-chat/wire/fields.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { encodeRequest } from './encode-request.ts'
import { listUnsupportedParams } from './unsupported-params.ts'

const gemini = findProvider('gemini') as Provider
const vertex = findProvider('vertex') as Provider

const target = (model = 'gemini-2.5-flash', provider = gemini): Target => ({
  provider,
  model,
  baseUrl: 'https://a.example/v1beta',
  apiKey: 'k',
})
const request = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'gemini/gemini-2.5-flash',
  messages: [{ role: 'user', content: 'Hi' }],
  stream: false,
  includeUsage: false,
  ...fields,
})
const withExtra = (body: JsonObject): Partial<ChatRequest> => {
  const extra = OPENAI_FIELDS.readExtra(body)
  return extra === undefined ? {} : { extra }
}
const encode = (fields: Partial<ChatRequest> = {}, model?: string, from?: SourceBody): JsonObject =>
  JSON.parse(encodeRequest(request(fields), target(model), from).body.toString())
const contents = (messages: readonly Message[], model?: string): unknown =>
  encode({ messages }, model).contents

const call = (id: string, name: string, text = '{}'): NonNullable<Message['tool_calls']>[number] => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})

describe('the address', () => {
  test('has the model and the method in its path', () => {
    expect(encodeRequest(request(), target(), undefined)).toMatchObject({
      origin: 'https://a.example',
      path: '/v1beta/models/gemini-2.5-flash:generateContent',
      headers: { accept: 'application/json' },
    })
    expect(encodeRequest(request({ stream: true }), target('m', vertex), undefined)).toMatchObject({
      path: '/v1beta/publishers/google/models/m:streamGenerateContent?alt=sse',
      headers: { accept: 'text/event-stream' },
    })
  })

  test('has every model’s name percent-encoded', () => {
    expect(encodeRequest(request(), target('a/x?y#z'), undefined).path).toBe(
      '/v1beta/models/a%2Fx%3Fy%23z:generateContent',
    )
    expect(() => encodeRequest(request(), target('../x'), undefined)).toThrow(
      expect.objectContaining({ path: 'model' }),
    )
  })
})

describe('messages', () => {
  test('leading instructions become the systemInstruction, later ones a marked text of the user in their place', () => {
    const body = encode({
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Three.' },
      ],
    })
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'One.' }, { text: 'Two.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }, { text: '<system>\nThree.\n</system>' }] }],
    })
  })

  test('a later instruction leaves all that precedes it as it was, so that its prompt stays cached', () => {
    const before: Message[] = [
      { role: 'system', content: 'One.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]
    const longer = encode({
      messages: [...before, { role: 'developer', content: 'Be brief.' }, { role: 'user', content: 'Why?' }],
    })
    const earlier = encode({ messages: before })
    expect(longer.systemInstruction).toEqual(earlier.systemInstruction)
    expect(longer.contents).toEqual([
      ...toArray(earlier.contents),
      { role: 'user', parts: [{ text: '<system>\nBe brief.\n</system>' }, { text: 'Why?' }] },
    ])
  })

  test('instructions for open models stand in the first content, or are the only one', () => {
    const system: Message = { role: 'system', content: 'Be brief.' }
    const user: Message = { role: 'user', content: 'Hi' }
    const turn = [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] }]
    expect(encode({ messages: [system, user] }, 'gemma-3-27b-it')).toEqual({ contents: turn })
    expect(encode({ messages: [system] })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }] }],
    })
  })

  test('consecutive messages of one role become one content, and empty ones none', () => {
    expect(
      contents([
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: null },
        { role: 'user', content: 'd' },
      ]),
    ).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }] },
      { role: 'user', parts: [{ text: 'd' }] },
    ])
  })

  test('images, documents and audio become inline data', () => {
    const content = [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
      { type: 'input_audio', input_audio: { data: 'CCCC', format: 'mp3' } },
      { type: 'image_url', image_url: { url: 'gs://bucket/a.webp' } },
    ]
    expect(contents([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        parts: [
          { text: 'Look' },
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          { inlineData: { mimeType: 'application/pdf', data: 'BBBB' } },
          { inlineData: { mimeType: 'audio/mp3', data: 'CCCC' } },
          { fileData: { mimeType: 'image/webp', fileUri: 'gs://bucket/a.webp' } },
        ],
      },
    ])
  })

  test('half surrogate pairs are replaced, whole pairs and backslashes stay', () => {
    expect(contents([{ role: 'user', content: 'a\ud83d b\ude00 😀 \\ud83d' }])).toEqual([
      { role: 'user', parts: [{ text: 'a\ufffd b\ufffd 😀 \\ud83d' }] },
    ])
  })
})

describe('signatures of reasoning', () => {
  const FORMAT = 'google-gemini-v1'
  const encrypted = { type: 'reasoning.encrypted', format: FORMAT } as const
  const parts = (message: Partial<Message>, model = 'gemini-3-flash-preview'): unknown =>
    (contents([{ role: 'assistant', ...message } as Message], model) as JsonObject[])[0]?.parts

  test('are taken from the ids of calls if the message has no details', () => {
    const id = packToolCallId('c1', [{ ...encrypted, data: 'SIG', id: 'c1' }])
    expect(parts({ tool_calls: [call(id, 'f'), call('c2', 'g')] })).toEqual([
      { functionCall: { id: 'c1', name: 'f', args: {} }, thoughtSignature: 'SIG' },
      { functionCall: { id: 'c2', name: 'g', args: {} } },
    ])
  })

  test('are taken from the details, each for its part', () => {
    const reasoning_details = [
      { ...encrypted, data: 'TEXT' },
      { ...encrypted, data: 'SECOND', id: 'c2' },
    ]
    const message = { content: 'Well.', tool_calls: [call('c1', 'f'), call('c2', 'g')], reasoning_details }
    expect(parts(message)).toEqual([
      { text: 'Well.', thoughtSignature: 'TEXT' },
      { functionCall: { id: 'c1', name: 'f', args: {} } },
      { functionCall: { id: 'c2', name: 'g', args: {} }, thoughtSignature: 'SECOND' },
    ])
  })

  test('are replaced by the documented placeholder, once a content, if they are lost or of another provider', () => {
    const foreign = packToolCallId('t1', [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'x', signature: 'S' },
    ])
    const message = { tool_calls: [call(foreign, 'f'), call('c2', 'g')] }
    const plain = [
      { functionCall: { id: 't1', name: 'f', args: {} } },
      { functionCall: { id: 'c2', name: 'g', args: {} } },
    ]
    const [first, second] = plain
    const signed = [{ ...first, thoughtSignature: 'skip_thought_signature_validator' }, second]
    expect(parts(message)).toEqual(signed)
    expect(parts(message, 'gemini-flash-latest')).toEqual(signed)
    expect(parts(message, 'gemini-2.5-pro')).toEqual(plain)
    expect(parts(message, 'gemma-3-27b-it')).toEqual(plain)
  })
})

describe('parameters', () => {
  test('are written as fields of generationConfig', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
    expect(
      encode({
        maxOutputTokens: 50,
        temperature: 0.5,
        topP: 0.9,
        stop: ['END'],
        seed: 7,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseFormat: { type: 'json_schema', json_schema: { name: 'a', schema } },
        user: 'u',
      }).generationConfig,
    ).toEqual({
      maxOutputTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['END'],
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    expect(encode({ responseFormat: { type: 'json_object' } }).generationConfig).toEqual({
      responseMimeType: 'application/json',
    })
    expect(encode({ responseFormat: { type: 'text' } })).not.toHaveProperty('generationConfig')
  })

  test('include n and top_k of extra fields', () => {
    expect(encode(withExtra({ n: 2, top_k: 40 })).generationConfig).toEqual({
      candidateCount: 2,
      topK: 40,
    })
  })

  test.each([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0, includeThoughts: false }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128, includeThoughts: false }],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 32_768, includeThoughts: true }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal', includeThoughts: false }],
    ['gemini-3-flash-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'low', includeThoughts: true }],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-3.7-flash', 'none', { thinkingLevel: 'low', includeThoughts: false }],
    ['gemini-3.5-flash', 'xhigh', { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-2.0-flash', 'none', undefined],
  ])('%s told to reason %s', (model, reasoningEffort, expected) => {
    const config = encode({ reasoningEffort }, model).generationConfig as JsonObject | undefined
    expect(config?.thinkingConfig).toEqual(expected)
  })

  test('are left out if they are dropped, but not with the object that has the cap', () => {
    const asked = request({ maxOutputTokens: 9, topP: 0.5, temperature: 1 })
    const dropped = ['top_p', 'generationConfig', 'contents', 'generationConfig.maxOutputTokens']
    const { body } = encodeRequest(asked, target(), undefined, dropped)
    expect(JSON.parse(body.toString())).toMatchObject({
      contents: [{ role: 'user' }],
      generationConfig: { maxOutputTokens: 9, temperature: 1 },
    })
    expect(body.toString()).not.toContain('topP')
  })

  test('are merged with the caller’s options for the provider', () => {
    const safety = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]
    const body = encode({
      temperature: 1,
      providerOptions: {
        gemini: { safetySettings: safety, generation_config: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } },
        openai: { store: true },
      },
    })
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      safetySettings: safety,
      generationConfig: { temperature: 1, mediaResolution: 'MEDIA_RESOLUTION_LOW' },
    })
  })
})

describe('unsupported parameters', () => {
  const find = (
    fields: Partial<ChatRequest>,
    model = 'gemini-2.5-flash',
    from?: SourceBody,
  ): readonly string[] => listUnsupportedParams(request(fields), gemini, model, from)
  const tools = [{ type: 'function' as const, function: { name: 'f' } }]

  test('are none in an ordinary request', () => {
    expect(
      find({ tools, toolChoice: 'required', reasoningEffort: 'high', seed: 1, parallelToolCalls: true }),
    ).toEqual([])
    expect(find({ parallelToolCalls: false, reasoningEffort: 'none' })).toEqual([])
  })

  test('are parallel calls turned off, an effort of a model that does not think, and unknown parts', () => {
    expect(find({ tools, parallelToolCalls: false })).toEqual(['parallel_tool_calls'])
    expect(find({ reasoningEffort: 'low' }, 'gemini-2.0-flash')).toEqual(['reasoning_effort'])
    const content = [{ type: 'file', file: { file_id: 'file-1' } }]
    expect(find({ messages: [{ role: 'user', content }] })).toEqual(['messages'])
  })

  test('are extra fields, unless they ask for nothing', () => {
    const extra = withExtra({
      model: 'm',
      messages: [],
      logit_bias: { 5: 1 },
      store: false,
      logprobs: true,
      top_k: 3,
    })
    expect(find(extra)).toEqual(['logit_bias', 'logprobs'])
  })
})
