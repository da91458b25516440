import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { encodeMessages } from '../client/encode-messages.ts'
import { parseRequest, parseStreamRequest } from './parse-request.ts'

const POINT = { cachePoint: { type: 'default' } }
const SPEC = { toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }
const GROUNDING = { name: 'nova_grounding' }

const say = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const parse = (fields: JsonObject, isEndUser = false) => {
  const body = { ...say({ text: 'hi' }), ...fields }
  return parseRequest(body, { source: toSourceBody('bedrock-converse', body), pathModel: 'm', isEndUser })
}
const withTools = (...tools: JsonObject[]): JsonObject => ({ toolConfig: { tools } })
const withFields = (additionalModelRequestFields: JsonObject): JsonObject => ({
  additionalModelRequestFields,
})

test('instructions may stand in the middle of the conversation', () => {
  const turn = (role: string, text: string): JsonObject => ({ role, content: [{ text }] })
  const messages = [turn('user', 'a'), turn('system', 'b'), turn('assistant', 'c')]
  expect(parse({ messages }).request.messages).toEqual([
    { role: 'user', content: 'a' },
    { role: 'system', content: 'b' },
    { role: 'assistant', content: 'c' },
  ])
})

describe('parameters', () => {
  test('are read from inferenceConfig, and named to callers by their paths', () => {
    const inferenceConfig = { maxTokens: 10, temperature: 0.5, topP: 0.9, stopSequences: ['x'] }
    const { request, spellings } = parse({ inferenceConfig })
    expect(request).toMatchObject({
      model: 'm',
      stream: false,
      includeUsage: true,
      maxOutputTokens: 10,
      receivedOutputCap: 10,
      temperature: 0.5,
      topP: 0.9,
      stop: ['x'],
    })
    expect([...(spellings ?? [])]).toEqual([
      ['temperature', 'inferenceConfig.temperature'],
      ['top_p', 'inferenceConfig.topP'],
      ['stop', 'inferenceConfig.stopSequences'],
      ['tool_choice', 'toolConfig.toolChoice'],
      ['response_format', 'outputConfig.textFormat'],
      ['reasoning_effort', 'additionalModelRequestFields.thinking'],
    ])
  })

  test('the path of converse-stream asks for a stream', () => {
    const source = toSourceBody('bedrock-converse', {})
    const context = { source, pathModel: 'm', isEndUser: false }
    expect(parseStreamRequest(say({ text: 'hi' }), context).request.stream).toBe(true)
  })

  test('the effort may stand beside the format of the answer', () => {
    const { request, spellings, findings } = parse({ outputConfig: { effort: 'low' } }, true)
    expect(request.reasoningEffort).toBe('low')
    expect(spellings?.get('reasoning_effort')).toBe('outputConfig.effort')
    expect(findings).toMatchObject({ nativeOnly: [], passedOn: undefined })
    const both = {
      outputConfig: { effort: 'low' },
      additionalModelRequestFields: { reasoning_effort: 'high' },
    }
    expect(parse(both).request.reasoningEffort).toBe('high')
  })

  test('the effort is named by the field that the caller chose', () => {
    const { spellings } = parse(withFields({ top_k: 1, reasoning_effort: 'low' }))
    expect(spellings?.get('reasoning_effort')).toBe('additionalModelRequestFields.reasoning_effort')
  })

  test('null is absent', () => {
    const { request, findings } = parse({
      system: null,
      inferenceConfig: { maxTokens: null, stopSequences: [] },
      toolConfig: null,
      outputConfig: { textFormat: null },
      additionalModelRequestFields: null,
      novelty: null,
      ...say({ text: 'hi', cachePoint: null, video: null }),
    })
    expect(request).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      stream: false,
      includeUsage: true,
    })
    expect(findings).toMatchObject({ nativeOnly: [], asksForCaching: false })
  })

  test.each<[string, JsonObject, string]>([
    ['no message', { messages: [] }, 'messages: must have at least one message.'],
    [
      'a role of another format',
      { messages: [{ role: 'tool', content: [] }] },
      'messages[0].role: must be user, assistant or system',
    ],
    [
      'content that is a string',
      { messages: [{ role: 'user', content: 'x' }] },
      'messages[0].content: must be a list.',
    ],
    ['a text that is a number', say({ text: 1 }), 'messages[0].content[0].text: must be a string.'],
    [
      'an image without a source',
      say({ image: {} }),
      'messages[0].content[0].image.source: must be an object.',
    ],
    [
      'a file in a bucket',
      say({ video: { source: { s3Location: { uri: 's3://a/b' } } } }),
      'messages[0].content[0].video.source.s3Location: may not be set here: send the bytes.',
    ],
    [
      'a call without a name',
      say({ toolUse: { toolUseId: 't' } }),
      'messages[0].content[0].toolUse.name: must be a string.',
    ],
    [
      'a wrong block in a result',
      say({ toolResult: { toolUseId: 't', content: [{ text: 1 }] } }),
      'messages[0].content[0].toolResult.content[0].text: must be a string.',
    ],
    [
      'a wrong block behind a right one in the same block',
      say({ text: 'x', toolUse: {} }),
      'messages[0].content[0].toolUse.toolUseId: must be a string.',
    ],
    [
      'a cap of zero',
      { inferenceConfig: { maxTokens: 0 } },
      'inferenceConfig.maxTokens: must be at least 1.',
    ],
    [
      'a stop sequence of another type',
      { inferenceConfig: { stopSequences: [1] } },
      'inferenceConfig.stopSequences[0]: must be a string.',
    ],
    [
      'a schema that is no JSON',
      { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{' } } } } },
      'outputConfig.textFormat.structure.jsonSchema.schema: must be the text of a JSON object.',
    ],
  ])('%s is refused by its path', (_, fields, message) => {
    expect(() => parse(fields)).toThrow(message)
  })
})

describe('what another price would need', () => {
  test.each<[JsonObject]>([
    [{ systemTool: GROUNDING }],
    [{ ...SPEC, systemTool: GROUNDING }],
    [{ ...SPEC, SYSTEMTOOL: GROUNDING }],
    [{ ...POINT, SystemTool: GROUNDING }],
    [{ cachePoint: null, systemTool: GROUNDING }],
    [{ cachePoint: null }],
    [{}],
  ])('the tool %j is refused', tool => {
    expect(() => parse(withTools(SPEC, tool))).toThrow('toolConfig.tools[1]: must have a toolSpec alone')
  })

  test.each<[JsonObject, string]>([
    [{ serviceTier: { type: 'priority' } }, 'serviceTier.type: must be default'],
    [{ serviceTier: { Type: 'priority' } }, 'serviceTier.Type: is not a field'],
    [{ performanceConfig: { latency: 'optimized' } }, 'performanceConfig.latency: must be standard'],
    [{ guardrailConfig: { guardrailIdentifier: 'g' } }, 'guardrailConfig'],
    [{ modelId: 'x' }, 'modelId'],
    [{ InferenceConfig: {} }, 'A field name is written in other letters than it has.'],
    [{ inferenceConfig: { max_tokens: 5 } }, 'A field name is written in other letters than it has.'],
    [{ inferenceConfig: { model: 'x' } }, 'inferenceConfig.model'],
    [
      { toolConfig: { tools: [SPEC], Tools: [{ systemTool: {} }] } },
      'A field name is written in other letters',
    ],
    [withFields({ max_tokens: 5 }), 'additionalModelRequestFields.max_tokens'],
    [withFields({ thinking: { model: 'x' } }), 'additionalModelRequestFields.thinking.model'],
    [{ new_field: { tools: [] } }, 'new_field.tools'],
  ])('%j is refused', (fields, message) => {
    expect(() => parse(fields)).toThrow(message)
  })

  test.each<[JsonObject]>([
    [{ serviceTier: { type: 'default' } }],
    [{ serviceTier: {} }],
    [{ performanceConfig: { latency: 'standard' } }],
  ])('%j passes, and is lost nowhere', fields => {
    expect(parse(fields).findings.nativeOnly).toEqual([])
    expect(parse(fields, true).findings.passedOn).toBeUndefined()
  })
})

describe('findings', () => {
  test('name a PDF that is said to be text, but no text and no PDF that is counted as one', () => {
    const document = (format: string, text: string): JsonObject => ({
      document: { name: 'a', format, source: { bytes: Buffer.from(text).toString('base64') } },
    })
    const blocks = [document('md', 'a'), document('pdf', '%PDF-1.7'), document('md', '%PDF-1.7')]
    expect(parse(say(...blocks)).findings.unmeasured).toEqual(['messages[0].content[2].document'])
  })

  test.each<[JsonObject, string | undefined]>([
    [{ novelty: 1 }, 'novelty'],
    [{ inferenceConfig: { topK: 5 } }, 'inferenceConfig.topK'],
    [{ toolConfig: { tools: [SPEC], novelty: 1 } }, 'toolConfig.novelty'],
    [withFields({ novelty: 1 }), 'additionalModelRequestFields.novelty'],
    [withFields({ anthropic_beta: ['x'] }), 'additionalModelRequestFields.anthropic_beta'],
    [withFields({ top_k: 1, thinking: { type: 'disabled' } }), undefined],
    [{ requestMetadata: { a: 'b' }, additionalModelResponseFieldPaths: ['/a'] }, undefined],
  ])('%j: a client token may not send %s', (fields, name) => {
    expect(parse(fields, true).findings.passedOn).toBe(name)
    expect(parse(fields).findings.passedOn).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['the instructions', { system: [{ text: 'a' }, POINT] }],
    ['a message', say({ text: 'a' }, POINT)],
    ['a tool', withTools(SPEC, POINT)],
    ['an entry that has a tool too', withTools({ ...SPEC, ...POINT })],
    ['a block that has a text too', say({ text: 'a', ...POINT })],
    ['a result', say({ toolResult: { toolUseId: 't', content: [{ text: 'a' }, POINT] } })],
    ['content of an unknown kind', say({ novel: { content: [{ text: 'a' }, POINT] } })],
    ['fields of the model, as Claude has it', withFields({ cache_control: { type: 'ephemeral' } })],
  ])('a cache point behind %s is found', (_, fields) => {
    expect(parse(fields).findings.asksForCaching).toBe(true)
  })

  test.each<[string, JsonObject]>([
    ['in a text', say({ text: '"cachePoint"' })],
    ['in a schema', withTools({ toolSpec: { name: 'f', inputSchema: { json: POINT } } })],
    ['in an input', say({ toolUse: { toolUseId: 't', name: 'f', input: POINT } })],
  ])('the word %s asks for no caching', (_, fields) => {
    expect(parse(fields).findings.asksForCaching).toBe(false)
  })

  test('a cache point is a mark on the result, part or tool before it', () => {
    const mark = { type: 'ephemeral' }
    const { request } = parse({
      ...say({ toolResult: { toolUseId: 't', content: [] } }, POINT, { text: 'a' }, POINT),
      ...withTools(SPEC, POINT),
    })
    expect(request.messages).toEqual([
      { role: 'tool', tool_call_id: 't', content: '', cache_control: mark },
      { role: 'user', content: [{ type: 'text', text: 'a', cache_control: mark }] },
    ])
    expect(request.tools).toMatchObject([{ cache_control: mark }])
  })

  test('an unknown kind beside a known one is for this format only', () => {
    expect(parse(say({ text: 'a', hologram: {} })).findings.nativeOnly).toEqual(['messages[0].content[0]'])
  })
})

test('parses and encodes 200,000 blocks in the instructions, a document and a message', () => {
  const texts = Array.from({ length: 200_000 }, () => ({ text: 'a' }))
  const document = { document: { name: 'd', source: { content: texts } } }
  const source = toSourceBody('bedrock-converse', {})
  const body = { system: texts, messages: [{ role: 'user', content: [document, ...texts] }] }
  const { messages } = parseRequest(body, { source, pathModel: 'm', isEndUser: true }).request
  expect(messages.map(({ content }) => content)).toMatchObject([{ length: 200_000 }, { length: 400_001 }])
  const encoded = encodeMessages(messages, 'm', { toolsAsText: false })
  expect([encoded.system.length, encoded.messages.length]).toEqual([200_000, 1])
})

test('reasoning has the index of its block among all but cache points, so that another provider of Claude gets it back there', () => {
  const think = (signature: string): JsonObject => ({
    reasoningContent: { reasoningText: { text: 'hm', signature } },
  })
  const use = (toolUseId: string): JsonObject => ({ toolUse: { toolUseId, name: 'f', input: {} } })
  const content = [think('s1'), { text: 'a' }, POINT, think('s2'), use('t1'), think('s3'), use('t2')]
  const { request } = parse({ messages: [{ role: 'assistant', content }] })
  expect(request.messages[0]?.reasoning_details).toMatchObject([
    { signature: 's1', index: 0 },
    { signature: 's2', index: 2 },
    { signature: 's3', index: 4 },
  ])
})

describe('reasoning of another provider', () => {
  const packed = packToolCallId('t', [{ type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'A' }])

  test.each<[string, JsonObject]>([
    ['in the id of a call', { toolUse: { toolUseId: packed, name: 'f' } }],
    ['in the id of a result', { toolResult: { toolUseId: packed, content: [] } }],
    [
      'under our signature',
      { reasoningContent: { reasoningText: { text: 'x', signature: 'rideau-thinking' } } },
    ],
  ])('%s is told to the client side', (_, block) => {
    expect(parse(say(block)).request.carriesReasoning).toBe(true)
  })

  test('the same words in a text are not', () => {
    const { request } = parse(say({ text: `${packed} rideau-thinking` }))
    expect(request).not.toHaveProperty('carriesReasoning')
  })
})
