import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Findings } from '../../shared/requests/findings.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { parseCountRequest, parseRequest } from './parse-request.ts'

const CONTENTS = [{ role: 'user', parts: [{ text: 'hi' }] }]

function parse(fields: JsonObject, isEndUser = false): ParsedChat {
  const body = { contents: CONTENTS, ...fields }
  const context = { source: toSourceBody('gemini-content', body), pathModel: 'm', isEndUser }
  return parseRequest(body, context, false)
}

const find = (fields: JsonObject, isEndUser = false): Findings => parse(fields, isEndUser).findings
const config = (generationConfig: JsonObject): JsonObject => ({ generationConfig })
const part = (fields: JsonObject): JsonObject => ({ contents: [{ parts: [fields] }] })

describe('generationConfig', () => {
  const fields = {
    maxOutputTokens: 5,
    temperature: 0.5,
    topP: 0.25,
    seed: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    stopSequences: ['x'],
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object' },
    thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
    candidateCount: 1,
    responseModalities: ['TEXT'],
  }
  const canonical = {
    maxOutputTokens: 5,
    temperature: 0.5,
    topP: 0.25,
    seed: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    stop: ['x'],
    responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    reasoningEffort: 'low',
  }

  test('is read field by field, in both spellings', () => {
    const snake = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name.replace(/[A-Z]/g, at => `_${at.toLowerCase()}`),
        value,
      ]),
    )
    for (const body of [config(fields), { generation_config: snake }]) {
      const { request, findings, showsReasoning } = parse(body)
      expect(request).toMatchObject(canonical)
      expect(findings).toEqual(find({}))
      expect(showsReasoning).toBe(true)
    }
  })

  test('takes null for an absent field, and an empty list of stop sequences for none', () => {
    const absent = Object.fromEntries(Object.keys(fields).map(name => [name, null]))
    const { passedBody: _, ...request } = parse(config({ ...absent, stopSequences: [] })).request
    const { passedBody: _own, ...bare } = parse({}).request
    expect(request).toEqual(bare)
  })

  test.each<[JsonObject, string]>([
    [{ maxOutputTokens: 0 }, 'maxOutputTokens'],
    [{ topP: '1' }, 'topP'],
    [{ seed: 0.5 }, 'seed'],
    [{ stopSequences: 'x' }, 'stopSequences'],
    [{ stopSequences: [1] }, 'stopSequences[0]'],
    [{ candidateCount: 2 }, 'candidateCount'],
    [{ responseModalities: ['TEXT', 'AUDIO'] }, 'responseModalities'],
    [{ responseSchema: [] }, 'responseSchema'],
    [{ thinkingConfig: { thinkingBudget: 0.5 } }, 'thinkingConfig.thinkingBudget'],
    [{ speechConfig: {} }, 'speechConfig'],
    [{ max_tokens: 1 }, 'maxTokens'],
    [{ model: 'x' }, 'model'],
  ])('refuses %j', (given, name) => {
    expect(() => parse(config(given))).toThrow(expect.objectContaining({ param: `generationConfig.${name}` }))
  })

  test('has fields that only this format knows, unless they are off, and unknown ones', () => {
    const given = { topK: 3, logprobs: 2, audioTimestamp: false, somethingNew: 1 }
    expect(find(config(given))).toMatchObject({
      nativeOnly: ['generationConfig.topK', 'generationConfig.logprobs'],
      unknownFields: ['generationConfig.somethingNew'],
    })
    expect(find(config({ responseMimeType: 'text/x.enum' })).nativeOnly).toEqual([
      'generationConfig.responseMimeType',
    ])
  })
})

test.each<[JsonObject, string]>([
  [{ model: 'models/other' }, 'model'],
  [{ serviceTier: 'priority' }, 'serviceTier'],
  [{ service_tier: 'flex' }, 'serviceTier'],
  [{ webSearch: {} }, 'webSearch'],
  [{ max_tokens: 1 }, 'maxTokens'],
  [{ contents: [] }, 'contents'],
  [{ contents: [{ role: 'system' }] }, 'contents[0].role'],
  [part({ text: 1 }), 'contents[0].parts[0].text'],
  [part({ functionCall: {} }), 'contents[0].parts[0].functionCall.name'],
  [part({ inlineData: { data: '' } }), 'contents[0].parts[0].inlineData.mimeType'],
  [{ tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name'],
])('refuses %j', (fields, param) => {
  expect(() => parse(fields)).toThrow(expect.objectContaining({ param }))
})

describe('finds', () => {
  test('tools that the provider runs, by any field of an entry', () => {
    const declared = { functionDeclarations: [{ name: 'f' }] }
    const tools = [{ google_search: {} }, { ...declared, codeExecution: {}, mcpServers: [] }, declared]
    const { hosted, hostedTools } = find({ tools })
    expect(hosted).toEqual(['tools[1].mcpServers'])
    expect(hostedTools).toEqual([
      { path: 'tools[0].googleSearch', type: 'googleSearch' },
      { path: 'tools[1].codeExecution', type: 'codeExecution' },
    ])
  })

  test('a tool that the provider runs in a form whose price is unknown, without its type', () => {
    const tools = [{ googleSearch: { searchTypes: { imageSearch: {} } } }, { googleMaps: {} }]
    expect(find({ tools }).hostedTools).toEqual([
      { path: 'tools[0].googleSearch', type: undefined },
      { path: 'tools[1].googleMaps', type: undefined },
    ])
  })

  test('files and caches that the provider keeps', () => {
    const kept = [
      'https://generativelanguage.googleapis.com/v1beta/files/abc',
      'https://generativelanguage.googleapis.com/v1beta/files/abc/',
      'https://GenerativeLanguage.googleapis.com./v1beta/files/abc?alt=/x',
      'https://generativelanguage.googleapis.com/v1beta/files%2Fabc#/',
      'https://proxy.example/v1beta//files/abc/?a=/',
      'https://proxy.example/v1/files/v1/files/abc',
      // A host whose letters the provider may read as others, and one that takes long to parse.
      'https://ｇenerativelanguage.googleapis.com/v1/x',
      `https://${String.fromCharCode(...Array.from({ length: 8000 }, (_, at) => 0x4e00 + at))}/x.png`,
      'https://',
      'gs://bucket/a.png',
      'files/abc',
    ]
    for (const fileUri of kept) {
      expect(find(part({ fileData: { fileUri } })).storedStatePaths).toEqual([
        'contents[0].parts[0].fileData.fileUri',
      ])
    }
    expect(find(part({ fileData: { fileUri: 'https://a.example/x.png' } })).storedStatePaths).toEqual([])
    expect(find({ cachedContent: 'cachedContents/x' }).storedStatePaths).toEqual(['cachedContent'])
  })

  test('what only this format has, and what is unknown, at each depth', () => {
    const result = { name: 'f', scheduling: 'SILENT', somethingNew: 1 }
    const { nativeOnly, unknownFields } = find({
      ...part({ functionResponse: result, videoMetadata: {}, other: 1 }),
      safetySettings: [{ threshold: 'BLOCK_NONE' }, { threshold: 'BLOCK_LOW_AND_ABOVE' }],
      toolConfig: { includeServerSideToolInvocations: true, functionCallingConfig: { other: 1 } },
      'a.b': 1,
    })
    expect(nativeOnly).toEqual([
      'contents[0].parts[0].functionResponse.scheduling',
      'contents[0].parts[0].videoMetadata',
      'toolConfig.includeServerSideToolInvocations',
      'safetySettings',
    ])
    expect(unknownFields).toEqual([
      '["a.b"]',
      'contents[0].parts[0].functionResponse.somethingNew',
      'contents[0].parts[0].other',
      'toolConfig.functionCallingConfig.other',
    ])
  })

  test('one answer, which no provider keeps, and no marks of caching in texts', () => {
    expect(find(part({ text: 'cache_control cachePoint store' }))).toMatchObject({
      choices: 1,
      asksForCaching: false,
    })
  })

  test('what an end user may not send, as the end user spelled it', () => {
    expect(find({ safety_settings: [] }, true).passedOn).toBe('safety_settings')
    expect(find({ labels: {} }, true).passedOn).toBe('labels')
    expect(find({ generation_config: { response_logprobs: true } }, true).passedOn).toBe(
      'generationConfig.response_logprobs',
    )
    expect(
      find({ ...config({ topK: 1, seed: 1 }), tools: [], toolConfig: {} }, true).passedOn,
    ).toBeUndefined()
    expect(find(part({ somethingNew: { file_id: 'f' } }), true).stored).toBe(
      'contents[0].parts[0].somethingNew.file_id',
    )
    expect(find({ labels: {} }).passedOn).toBeUndefined()
    // Null is absent, but in a field that nothing knows.
    const nulls = { safety_settings: null, labels: null, cachedContent: null }
    expect(find({ ...nulls, generation_config: { response_logprobs: null } }, true).passedOn).toBeUndefined()
    expect(find({ somethingNew: null }, true).passedOn).toBe('somethingNew')
  })
})

test('parameters are named as this format spells them', () => {
  expect(parse({}).spellings).toEqual(
    new Map([
      ['tool_choice', 'toolConfig'],
      ['response_format', 'generationConfig.responseMimeType'],
      ['temperature', 'generationConfig.temperature'],
      ['top_p', 'generationConfig.topP'],
      ['stop', 'generationConfig.stopSequences'],
      ['seed', 'generationConfig.seed'],
      ['presence_penalty', 'generationConfig.presencePenalty'],
      ['frequency_penalty', 'generationConfig.frequencyPenalty'],
      ['reasoning_effort', 'generationConfig.thinkingConfig'],
      ['n', 'generationConfig.candidateCount'],
      ['top_k', 'generationConfig.topK'],
    ]),
  )
})

test('a count is of the contents alone, or of a whole request', () => {
  const count = (body: JsonObject): ParsedChat =>
    parseCountRequest(body, { source: toSourceBody('gemini-content', body), pathModel: 'm', isEndUser: true })
  const whole = { contents: CONTENTS, systemInstruction: { parts: [{ text: 'a' }] }, labels: {} }
  expect(count({ contents: CONTENTS }).request.messages).toEqual([{ role: 'user', content: 'hi' }])
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const { request, findings } = count({ [name]: whole })
    expect(request.messages).toEqual([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'hi' },
    ])
    expect(findings.passedOn).toBe('labels')
    expect(() => count({ [name]: whole, contents: CONTENTS })).toThrow(
      expect.objectContaining({ param: 'generateContentRequest' }),
    )
  }
})

test('a result finds the first call of its id, else of its function, that has none yet', () => {
  const call = (id: string | undefined, name: string): JsonObject => ({
    functionCall: { ...(id && { id }), name },
  })
  const result = (id: string | undefined, name: string): JsonObject => ({
    functionResponse: { ...(id && { id }), name },
  })
  const { messages } = parse({
    contents: [
      { role: 'model', parts: [call('a', 'f'), call('b', 'f'), call('c', 'g'), call('a', 'g')] },
      {
        role: 'user',
        parts: [
          result('b', 'f'),
          result(undefined, 'f'),
          result('a', 'x'),
          result('other', 'f'),
          result(undefined, 'g'),
        ],
      },
    ],
  }).request
  expect(messages.slice(1).map(({ tool_call_id: id }) => id)).toEqual(['b', 'a', 'a', 'other', 'c'])
})

test('takes time in proportion to calls and results, also where none belong together', () => {
  const count = 20_000
  const many = (make: (at: number) => JsonObject): JsonObject[] =>
    Array.from({ length: count }, (_, at) => make(at))
  const { messages } = parse({
    contents: [
      { role: 'model', parts: many(at => ({ functionCall: { id: `c${at}`, name: 'f' } })) },
      { role: 'user', parts: many(at => ({ functionResponse: { id: `r${at}`, name: 'g' } })) },
    ],
  }).request
  expect(messages.length).toBe(1 + count)
  expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: `r${count - 1}` })
})

test('refuses a body with more names than the API has, in both spellings, before they are looked up', () => {
  const named = Object.fromEntries(Array.from({ length: 1_025 }, (_, at) => [`n${at}`, 1]))
  for (const name of ['generationConfig', 'generation_config'])
    expect(() => parse({ [name]: named })).toThrow(/^generation_?config\.n\d+: is not read: .* 1,024 /i)
})
