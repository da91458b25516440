import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { addUp } from '../../shared/add-up.ts'
import type { ParsedChat } from '../../shared/parsed-chat.ts'
import { findHandedDetails, packToolCallId } from '../../shared/reasoning-carrier.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { encodeRequest } from '../client/encode-request.ts'
import { encodeReply } from '../wire/encode-reply.ts'
import { spellCamel } from '../wire/spell-camel.ts'
import { decodeSchema } from './decode-schema.ts'
import { ContentEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

const ENVELOPE = { id: 'r1', created: 0, model: 'p/m' }
const SHOWN = { thoughts: true }
const USAGE: Usage = { uncachedInput: 5, cacheRead: 2, cacheWrite: 0, output: 3, reasoning: 4 }
const fn = (name: string, args: string) => ({ name, arguments: args })
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

  test('is what it asks of anybody', () => {
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

  test('results find their calls by name and order where neither has an id, and go before what else is said', () => {
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
    // The same conversation, sent again, has the same ids: what a provider keeps of it stays of use.
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
  ])('%j', (functionCallingConfig, toolChoice) => {
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

test('a schema of the older form is JSON Schema, whatever its properties are called', () => {
  expect(
    decodeSchema({
      type: 'OBJECT',
      nullable: true,
      required: ['type'],
      properties: {
        type: { type: 'STRING', format: 'enum', enum: ['A'] },
        nullable: { anyOf: [{ type: 'NUMBER' }], nullable: true },
        list: { type: 'ARRAY', min_items: '2', items: { type: 'INTEGER', nullable: true } },
      },
      propertyOrdering: ['list', 'type'],
    }),
  ).toEqual({
    type: ['object', 'null'],
    required: ['type'],
    properties: {
      type: { type: 'string', enum: ['A'] },
      nullable: { anyOf: [{ anyOf: [{ type: 'number' }] }, { type: 'null' }] },
      list: { type: 'array', minItems: 2, items: { type: ['integer', 'null'] } },
    },
  })
})

test('both spellings of a name are one, but for what a caller names itself', () => {
  const args = { snake_case: { in_it: 1 } }
  expect(
    spellCamel({
      system_instruction: { parts: [{ function_call: { name: 'f', args } }] },
      labels: { a_b: 'c' },
    }),
  ).toEqual({
    body: { systemInstruction: { parts: [{ functionCall: { name: 'f', args } }] }, labels: { a_b: 'c' } },
  })
  expect(spellCamel({ contents: { parts: { text: 'a' } } })).toEqual({
    body: { contents: [{ parts: [{ text: 'a' }] }] },
  })
  expect(spellCamel({ tools: [{ googleSearch: {}, google_search: {} }] })).toEqual({
    doubled: 'tools[0].google_search',
  })
})

describe('a request for a provider of this format', () => {
  const target: Target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }
  const send = (body: JsonObject, fields: object, dropped: readonly string[] = []): JsonObject => {
    const source = toSourceBody('gemini-content', body)
    const { request } = parse(body)
    return JSON.parse(encodeRequest({ ...request, ...fields }, target, source, dropped).body.toString())
  }

  test('goes out as it came, held to the cap, without what may not be sent', () => {
    const body = {
      contents: [{ parts: [{ text: 'x', unheard_of: { a_b: 1 } }] }],
      model: 'models/m',
      tools: [{ google_search: {} }, { functionDeclarations: [{ name: 'f' }], codeExecution: {} }],
      generation_config: { topK: 3, max_output_tokens: 99, somethingNew: 1 },
      somethingNew: 1,
    }
    const dropped = [
      'tools[0].googleSearch',
      'tools[1].codeExecution',
      'somethingNew',
      'generationConfig.somethingNew',
    ]
    expect(send(body, { maxOutputTokens: 9 }, dropped)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'x', unheardOf: { aB: 1 } }] }],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      generationConfig: { topK: 3, maxOutputTokens: 9 },
    })
  })

  test('has calls that another provider made as its models take them: our ids away, and a signature', () => {
    const foreign = packToolCallId('toolu_1', [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 's' },
    ])
    const own = packToolCallId('theirs', [
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'SIGNED', id: 'theirs' },
    ])
    const made = `call_${'0'.repeat(24)}`
    const turns = (calls: JsonObject[], results: JsonObject[]): JsonObject[] => [
      { role: 'model', parts: calls },
      { role: 'user', parts: results },
    ]
    const call = (id: string): JsonObject => ({ functionCall: { id, name: 'f', args: {} } })
    const result = (id: string): JsonObject => ({ functionResponse: { id, name: 'f', response: {} } })
    const contents = [
      ...turns([call(foreign), call(made)], [result(foreign), result(made)]),
      ...turns([call(own)], [result(own)]),
      ...turns([{ ...call('kept'), thoughtSignature: 'KEPT' }], [result('kept')]),
    ]
    const of = (model: string): unknown =>
      JSON.parse(
        encodeRequest(
          parse({ contents }).request,
          { ...target, model },
          toSourceBody('gemini-content', { contents }),
        ).body.toString(),
      ).contents
    const without = { name: 'f', args: {} }
    const fitted = (signature: object): JsonObject[] => [
      ...turns(
        [{ ...call('toolu_1'), ...signature }, { functionCall: without }],
        [result('toolu_1'), { functionResponse: { name: 'f', response: {} } }],
      ),
      ...turns([{ ...call('theirs'), thoughtSignature: 'SIGNED' }], [result('theirs')]),
      ...turns([{ ...call('kept'), thoughtSignature: 'KEPT' }], [result('kept')]),
    ]
    expect(of('gemini-3-flash-preview')).toEqual(
      fitted({ thoughtSignature: 'skip_thought_signature_validator' }),
    )
    expect(of('gemini-2.5-flash')).toEqual(fitted({}))
  })

  test('declares no function that may not be called: it was not counted as input', () => {
    const calling = { mode: 'ANY', allowedFunctionNames: ['f'] }
    const body = {
      contents: CONTENTS,
      tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }],
      toolConfig: { functionCallingConfig: calling },
    }
    expect(send(body, {}).tools).toEqual([{ functionDeclarations: [{ name: 'f' }] }])
  })
})

describe('an answer for a caller of this format', () => {
  const reply: ChatReply = {
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'hi',
          reasoning: 'hm',
          tool_calls: [{ id: 'c1', type: 'function', function: fn('f', '{"a":1}') }],
        },
        finishReason: 'tool_calls',
      },
    ],
    usage: USAGE,
  }

  test('every field that clients read, in this format’s arithmetic', () => {
    expect(encodeReply(reply, ENVELOPE, SHOWN)).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { text: 'hi' },
              { functionCall: { id: 'c1', name: 'f', args: { a: 1 } } },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 7,
        cachedContentTokenCount: 2,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 4,
        totalTokenCount: 14,
      },
      modelVersion: 'p/m',
      responseId: 'r1',
    })
    expect(decodeReply(encodeReply(reply, ENVELOPE, SHOWN))).toEqual(reply)
    expect(JSON.stringify(encodeReply(reply, ENVELOPE, { thoughts: false }))).not.toContain('hm')
  })

  test('the state of another format’s reasoning travels in the id of the call, and comes back in it', () => {
    const detail = {
      type: 'reasoning.text',
      format: 'anthropic-claude-v1',
      text: 'hm',
      signature: 's',
    } as const
    const id = packToolCallId('c1', [detail])
    const calls = [{ id, type: 'function' as const, function: fn('f', '{}') }]
    const message = { role: 'assistant' as const, content: null, tool_calls: calls }
    const encoded = encodeReply(
      { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE },
      ENVELOPE,
      SHOWN,
    )
    const { content } = (encoded.candidates as JsonObject[])[0] as JsonObject
    const result = { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] }
    const { messages } = parse({ contents: [content as JsonObject, result] }).request
    expect(messages[0]?.tool_calls?.[0]?.id).toBe(id)
    expect(messages[1]?.tool_call_id).toBe(id)
  })

  test('a signature that another handed on stands in no part: it goes back to who handed it on', () => {
    const detail = { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'S', id: 'c1' } as const
    const handed = { ...detail, via: 'broker' }
    const id = packToolCallId('c1', [handed])
    const calls = [{ id, type: 'function' as const, function: fn('f', '{}') }]
    const message = {
      role: 'assistant' as const,
      content: null,
      tool_calls: calls,
      reasoning_details: [handed],
    }
    const encoded = encodeReply(
      { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE },
      ENVELOPE,
      SHOWN,
    )
    const { content } = (encoded.candidates as JsonObject[])[0] as JsonObject
    expect(content).toEqual({ role: 'model', parts: [{ functionCall: { id, name: 'f', args: {} } }] })
    const { messages } = parse({ contents: [content as JsonObject] }).request
    expect(findHandedDetails({ ...messages[0] }, 'broker')).toEqual([detail])
  })

  test('any stream says what was said, with each call whole and told once', () => {
    const piece = fc.oneof(
      fc.record({ content: fc.string() }),
      fc.record({ reasoning: fc.string() }),
      fc.record({ call: fc.nat(2), value: fc.string() }),
    )
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const begun: number[] = []
        const events: StreamEvent[] = []
        for (const each of pieces) {
          if (!('call' in each)) events.push({ type: 'delta', index: 0, ...each })
          else if (!begun.includes(each.call)) {
            // In two pieces.
            const text = JSON.stringify({ value: each.value })
            const index = begun.push(each.call) - 1
            const head = { index, id: `c${index}`, type: 'function' as const }
            events.push({ type: 'delta', index: 0, toolCalls: [{ ...head, function: fn('f', '') }] })
            for (const part of [text.slice(0, 3), text.slice(3)])
              events.push({ type: 'delta', index: 0, toolCalls: [{ index, function: { arguments: part } }] })
          }
        }
        const reason = begun.length > 0 ? ('tool_calls' as const) : ('stop' as const)
        const encoder = new ContentEncoder(ENVELOPE, SHOWN)
        const chunks = [...events.flatMap(event => encoder.encode(event)), encoder.finish(reason, USAGE)]
        const decoder = openStream()
        const heard = addUp(chunks.flatMap(chunk => decoder.decode(JSON.stringify(chunk))))
        expect(heard).toEqual({ ...addUp(events), finishReason: reason, usage: USAGE })
      }),
    )
  })

  test('a call that was cut is not told: with other arguments it would be another call', () => {
    const encoder = new ContentEncoder(ENVELOPE, SHOWN)
    encoder.encode({
      type: 'delta',
      index: 0,
      toolCalls: [{ index: 0, id: 'c', type: 'function', function: fn('rm', '{"path":"/a') }],
    })
    const [candidate] = encoder.finish('length', USAGE).candidates as JsonObject[]
    expect(candidate).toMatchObject({ finishReason: 'MAX_TOKENS', content: { parts: [{ text: '' }] } })
  })
})
