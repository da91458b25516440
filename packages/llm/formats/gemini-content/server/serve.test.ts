import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { parseRequest } from './parse-request.ts'

const CONTENTS = [{ parts: [{ text: 'x' }] }]
const parse = (body: JsonObject): ParsedChat => {
  const source = toSourceBody('gemini-content', body)
  return parseRequest(body, { source, pathModel: 'm', isEndUser: false }, false)
}

describe('a request of this format for another provider', () => {
  const body: JsonObject = {
    systemInstruction: { parts: [{ text: 'a' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'see' },
          { inlineData: { mimeType: 'image/png', data: 'ab-_' } },
          { inlineData: { mimeType: 'audio/mpeg', data: 'AA' } },
          { inlineData: { mimeType: 'application/pdf', data: 'AA' } },
          { fileData: { mimeType: 'image/jpeg', fileUri: 'https://x/y' } },
          { fileData: { fileUri: 'https://x/y.pdf' } },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { text: 'o' },
          { text: 'k', thoughtSignature: 'TEXT' },
          { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'CALL' },
          { functionCall: { name: 'f', args: { a: 2 } } },
          { functionCall: { id: 'theirs', name: 'g' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { text: 'more' },
          { functionResponse: { name: 'g', response: { r: 3 } } },
          { functionResponse: { name: 'f', response: { r: 1 } } },
          {
            functionResponse: {
              name: 'f',
              response: { r: 2 },
              parts: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }],
            },
          },
        ],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'f', description: 'd' }, { name: 'g' }, { name: 'h' }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'g'] } },
    generationConfig: { thinkingConfig: { thinkingBudget: 8192 }, responseMimeType: 'application/json' },
  }
  const asked = parse(body).request

  test('becomes messages, functions, a choice and parameters', () => {
    expect(asked).toMatchObject({
      toolChoice: 'required',
      reasoningEffort: 'medium',
      responseFormat: { type: 'json_object' },
      tools: [{ function: { name: 'f', description: 'd' } }, { function: { name: 'g' } }],
    })
    expect(asked.messages.slice(0, 2)).toEqual([
      { role: 'system', content: 'a' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,ab+/' } },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } },
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA' } },
          { type: 'image_url', image_url: { url: 'https://x/y' } },
          { type: 'file', file: { file_url: 'https://x/y.pdf' } },
        ],
      },
    ])
  })

  test('has results that find their calls by name and order without ids, before the rest of the content', () => {
    const [, , assistant, ...after] = asked.messages
    const ids = assistant?.tool_calls?.map(({ id }) => id) ?? []
    expect(new Set(ids).size).toBe(3)
    expect(after).toMatchObject([
      { role: 'tool', tool_call_id: 'theirs', content: '{"r":3}' },
      { role: 'tool', tool_call_id: ids[0], content: '{"r":1}' },
      { role: 'tool', tool_call_id: ids[1], content: [{ text: '{"r":2}' }, { type: 'image_url' }] },
      { role: 'user', content: 'more' },
    ])
    expect(assistant).toMatchObject({
      content: 'ok',
      reasoning: 'hm',
      reasoning_details: [{ data: 'TEXT' }, { data: 'CALL', id: ids[0] }],
    })
    // The same conversation gets the same ids again, so that a provider's cache of it stays of use.
    expect(parse(body).request).toEqual(asked)
  })

  test.each([
    [
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      { type: 'function', function: { name: 'f' } },
    ],
    [{ mode: 'NONE' }, 'none'],
    [{ mode: 'AUTO' }, 'auto'],
    [{ mode: 'VALIDATED' }, 'auto'],
    [{}, undefined],
  ])('has a tool choice for %j', (functionCallingConfig, toolChoice) => {
    const { tools, contents } = body
    expect(
      parse({ contents, tools, toolConfig: { functionCallingConfig } } as JsonObject).request.toolChoice,
    ).toEqual(toolChoice)
  })

  test.each([
    [{ thinkingBudget: 0 }, 'none'],
    [{ thinkingBudget: -1 }, undefined],
    [{ thinkingBudget: 1024 }, 'low'],
    [{ thinkingBudget: 24_576 }, 'high'],
    [{ thinkingLevel: 'MINIMAL' }, 'minimal'],
    [{ includeThoughts: true }, undefined],
  ])('%j asks for the effort %s', (thinkingConfig, effort) => {
    expect(parse({ contents: CONTENTS, generationConfig: { thinkingConfig } }).request.reasoningEffort).toBe(
      effort,
    )
  })
})

describe('a chat of a client that records each chunk of a stream as a content', () => {
  const call = (id: string): JsonObject => ({ functionCall: { id, name: 'f', args: {} } })
  const result = (id: string): JsonObject => ({ functionResponse: { id, name: 'f', response: {} } })
  const model = (...parts: JsonObject[]): JsonObject => ({ role: 'model', parts })
  const user = (...parts: JsonObject[]): JsonObject => ({ role: 'user', parts })
  const messagesOf = (...contents: JsonObject[]): unknown => parse({ contents }).request.messages

  test('has one message for each turn, without empty texts', () => {
    expect(
      messagesOf(
        user({ text: 'why?' }),
        model({ text: 'hm', thought: true }),
        model({ text: 'The ' }),
        model({ text: 'sky.' }),
        model({ text: '', thoughtSignature: 'S' }),
        user({ text: 'go on' }),
        user({ text: '' }),
        user({ text: 'please' }),
      ),
    ).toEqual([
      { role: 'user', content: 'why?' },
      {
        role: 'assistant',
        content: 'The sky.',
        reasoning: 'hm',
        reasoning_details: [expect.objectContaining({ data: 'S', index: 0 })],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'go on' },
          { type: 'text', text: 'please' },
        ],
      },
    ])
  })

  test('has the calls of a turn in one message, and their results right behind it', () => {
    expect(
      messagesOf(
        user({ text: 'do' }),
        model(call('1')),
        model({ text: '' }, call('2')),
        user({ text: 'and then?' }),
        { role: 'function', parts: [result('2')] },
        user(result('1'), { text: '' }),
        model({ text: '' }),
      ),
    ).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: null, tool_calls: [{ id: '1' }, { id: '2' }] },
      { role: 'tool', tool_call_id: '2' },
      { role: 'tool', tool_call_id: '1' },
      { role: 'user', content: 'and then?' },
      { role: 'assistant', content: '' },
    ])
  })

  test('gives calls without ids the same ids when the conversation goes on', () => {
    const plain = { functionCall: { name: 'f', args: {} } }
    const begun = [user({ text: 'do' }), model({ text: 'a' }), model(plain)]
    const [, first] = parse({ contents: begun }).request.messages
    const [, again, tool] = parse({
      contents: [...begun, user({ functionResponse: { name: 'f' } }), model(plain)],
    }).request.messages
    expect(again).toEqual(first)
    expect(tool?.tool_call_id).toBe(first?.tool_calls?.[0]?.id)
  })
})
