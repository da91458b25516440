import { describe, expect, test } from 'vitest'
import { readConversation } from './conversation.ts'

const read = (request: object, answer: object | null = null) =>
  readConversation(JSON.stringify(request), answer === null ? null : JSON.stringify(answer))?.map(
    ({ role, text, calls, otherParts }) => [
      role,
      text,
      ...calls.map(call => `${call.name}(${call.arguments})`),
      ...(otherParts > 0 ? [otherParts] : []),
    ],
  )

describe('the messages of a captured request', () => {
  test('of OpenAI’s format, with an image, a tool call, its result and a streamed answer', () => {
    const call = { id: 'c', type: 'function', function: { name: 'find', arguments: '{"a":1}' } }
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://x.test/i.png' } },
    ]
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'a cat' },
    ]
    expect(read({ messages }, { role: 'assistant', content: 'A cat.', finish_reason: 'stop' })).toEqual([
      ['system', 'Be brief.'],
      ['user', 'What is this?', 1],
      ['assistant', '', 'find({"a":1})'],
      ['tool', 'a cat'],
      ['assistant', 'A cat.'],
    ])
  })

  test('of Anthropic’s format', () => {
    const request = {
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'sunny' }] },
      ],
    }
    const answer = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't', name: 'weather', input: { city: 'Bonn' } },
      ],
    }
    expect(read(request, answer)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Hello'],
      ['user', 'sunny'],
      ['assistant', 'Hi', 'weather({"city":"Bonn"})'],
    ])
  })

  test('of the Responses format', () => {
    const request = {
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
        { type: 'function_call', call_id: 'c', name: 'find', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'found' },
      ],
    }
    const answer = { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Done' }] }] }
    expect(read(request, answer)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Hello'],
      ['assistant', '', 'find({})'],
      ['tool', 'found'],
      ['assistant', 'Done'],
    ])
    expect(read({ input: 'Hello' })).toEqual([['user', 'Hello']])
  })

  test('of Gemini’s and Converse’s formats', () => {
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
    const candidates = [{ content: { role: 'model', parts: [{ functionCall: { name: 'find', args: {} } }] } }]
    const systemInstruction = { parts: [{ text: 'Be brief.' }] }
    expect(read({ contents, systemInstruction }, { candidates })).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Hello'],
      ['assistant', '', 'find({})'],
    ])
    const messages = [{ role: 'user', content: [{ text: 'Hello' }] }]
    const output = { message: { role: 'assistant', content: [{ text: 'Hi' }] } }
    expect(read({ messages }, { output })).toEqual([
      ['user', 'Hello'],
      ['assistant', 'Hi'],
    ])
  })

  test.each([
    ['no body', null],
    ['a cut body', '{"messages":[{"role":"user","content":"Hel…[cut: 90000 characters]'],
    ['embeddings', '{"input":["one","two"]}'],
    ['a list', '[1]'],
  ])('undefined: %s', (_, body) => {
    expect(readConversation(body, null)).toBeUndefined()
  })
})
