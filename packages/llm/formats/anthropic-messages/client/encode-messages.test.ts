import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { custom } from '../../../providers/custom.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { decodeReply } from './decode-reply.ts'
import { encodeRequest } from './encode-request.ts'

const provider = findProvider('anthropic') as Provider

const send = (fields: Partial<ChatRequest>, model = 'claude-sonnet-4-6'): JsonObject =>
  JSON.parse(
    encodeRequest(
      { model: 'x', messages: [], stream: false, includeUsage: false, ...fields },
      { provider, model, baseUrl: 'https://api.example.com/v1', apiKey: 'k' },
      undefined,
    ).body.toString(),
  )

const sendMessages = (...messages: Message[]): JsonObject => send({ messages })

const call = (id: string, name = 'now', args = '{}') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: args },
})

const text = (words: string) => ({ type: 'text', text: words })

const TARGET = { provider: custom, model: 'm', baseUrl: 'https://a.example/v1', apiKey: '' }

describe('messages', () => {
  test('instructions at the beginning become system, later ones a marked text of the user', () => {
    expect(
      sendMessages(
        { role: 'system', content: 'a' },
        { role: 'developer', content: [{ type: 'text', text: 'b' }] },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'yes' },
        { role: 'system', content: 'c' },
      ),
    ).toMatchObject({
      system: 'a\n\nb',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: '<system>\nc\n</system>' },
      ],
    })
  })

  const hi = { role: 'user' as const, content: 'hi' }
  const yes = { role: 'assistant' as const, content: 'yes' }
  const rule = { role: 'system' as const, content: 'c' }
  const folded = '<system>\nc\n</system>'

  test.each<[string, Message[], unknown[]]>([
    ['at the end', [hi, rule], [hi, rule]],
    ['before an answer', [hi, rule, yes, hi], [hi, rule, yes, hi]],
    ['several in a row', [hi, rule, rule], [hi, { role: 'system', content: [text('c'), text('c')] }]],
    ['after an answer', [hi, yes, rule], [hi, yes, { role: 'user', content: folded }]],
    [
      'before what the user says',
      [hi, rule, hi],
      [{ role: 'user', content: [text('hi'), text(folded), text('hi')] }],
    ],
    [
      'before an answer of nothing',
      [hi, rule, { role: 'assistant', content: '' }, hi],
      [{ role: 'user', content: [text('hi'), text(folded), text('hi')] }],
    ],
  ])(
    'a model that takes instructions in the conversation gets them where it allows that: %s',
    (_, given, sent) => {
      for (const model of ['claude-opus-4-8', 'claude-sonnet-5']) {
        expect(send({ messages: given }, model).messages).toEqual(sent)
      }
      const older = JSON.stringify(send({ messages: given }, 'claude-opus-4-7').messages)
      expect(older).not.toContain('"role":"system"')
    },
  )

  test('clouds get no system messages within the conversation', () => {
    const vertex = findProvider('vertex') as Provider
    const target = { provider: vertex, model: 'claude-opus-4-8', baseUrl: 'https://v.example/v1', apiKey: '' }
    const request = { model: 'x', messages: [hi, rule], stream: false, includeUsage: false }
    const { body } = encodeRequest(request, target, undefined)
    expect(JSON.parse(body.toString()).messages).toEqual([
      { role: 'user', content: [text('hi'), text(folded)] },
    ])
  })

  test('cache breakpoints stay at the parts that they were set on', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const body = send({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'a', cache_control }] },
        { role: 'user', content: [{ type: 'text', text: 'b', cache_control }] },
      ],
      tools: [Object.assign({ cache_control }, { type: 'function' as const, function: { name: 'f' } })],
    })
    expect(body.system).toEqual([{ type: 'text', text: 'a', cache_control }])
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'b', cache_control }] }])
    expect(toObjects(body.tools)[0]?.cache_control).toEqual(cache_control)
  })

  test('encodes images and documents, by data and by address', () => {
    const { messages } = sendMessages({
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
        { type: 'file', file: { file_data: 'data:text/plain;base64,aGk=' } },
        { type: 'text', text: '' },
      ],
    })
    expect(toObjects(messages)[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' },
        title: 'a.pdf',
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
    ])
  })

  test('results of parallel calls come together before the user’s text, with ids of allowed characters', () => {
    const { messages } = sendMessages(
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', tool_calls: [call('a.1', 'now', ''), call('b', 'now', '{"n":1}')] },
      { role: 'tool', tool_call_id: 'a.1', content: 'one' },
      { role: 'user', content: 'and?' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
    )
    const [, assistant, user] = toObjects(messages)
    const calls = toObjects(assistant?.content)
    expect(calls.map(({ type, input }) => [type, input])).toEqual([
      ['tool_use', {}],
      ['tool_use', { n: 1 }],
    ])
    expect(calls[0]?.id).toMatch(/^[a-zA-Z0-9_-]+$/)
    expect(user).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: calls[0]?.id as string, content: 'one' },
        { type: 'tool_result', tool_use_id: 'b', content: 'two' },
        { type: 'text', text: 'and?' },
      ],
    })
  })

  test('the first turn is the user’s, and an answer to continue loses white space at its end', () => {
    expect(sendMessages({ role: 'assistant', content: 'Yes \n' }).messages).toEqual([
      { role: 'user', content: '.' },
      { role: 'assistant', content: 'Yes' },
    ])
    expect(sendMessages({ role: 'system', content: 'a' }).messages).toEqual([{ role: 'user', content: 'a' }])
  })

  test('replaces half a surrogate pair', () => {
    const { messages } = sendMessages({ role: 'user', content: 'a\ud83d b😀' })
    expect(messages).toEqual([{ role: 'user', content: 'a\ufffd b😀' }])
    const cut = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"\\ud83d"}' } } as const
    const called = sendMessages({ role: 'user', content: 'a' }, { role: 'assistant', tool_calls: [cut] })
    expect(called.messages).toMatchObject([{}, { content: [{ input: { a: '\ufffd' } }] }])
  })

  test('any conversation: roles alternate, the user begins, results follow their calls', () => {
    const message = fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: fc.string() }),
      fc.record({ role: fc.constant('tool'), tool_call_id: fc.constantFrom('a', 'b'), content: fc.string() }),
      fc.record({
        role: fc.constant('assistant'),
        content: fc.constant(null),
        tool_calls: fc.constant([call('a'), call('b')]),
      }),
    )
    fc.assert(
      fc.property(fc.array(message as fc.Arbitrary<Message>, { minLength: 1 }), messages => {
        const turns = toObjects(send({ messages }).messages)
        for (const [at, { role, content }] of turns.entries()) {
          expect(role).toBe(at % 2 === 0 ? 'user' : 'assistant')
          const types = toObjects(content).map(({ type }) => type)
          expect(types.lastIndexOf('tool_result')).toBe(
            types.filter(type => type === 'tool_result').length - 1,
          )
        }
      }),
    )
  })
})

describe('thinking of earlier answers', () => {
  const details: ReasoningDetail[] = [
    { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 's1', index: 0 },
    { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'd', index: 2 },
  ]
  const conversation = (message: Partial<Message>): Message[] => [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'Let me see.', ...message },
    { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id ?? '', content: 'x' },
  ]
  const blocks = [
    { type: 'thinking', thinking: 'hm', signature: 's1' },
    { type: 'text', text: 'Let me see.' },
    { type: 'redacted_thinking', data: 'd' },
    { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} },
  ]

  test('comes from the message, at its block indexes', () => {
    const messages = conversation({ tool_calls: [call('toolu_1')], reasoning_details: details })
    expect(toObjects(send({ messages }).messages)[1]?.content).toEqual(blocks)
  })

  test('comes from the id of a call, if the client kept nothing else', () => {
    const messages = conversation({ tool_calls: [call(packToolCallId('toolu_1', details))] })
    const sent = toObjects(send({ messages }).messages)
    expect(sent[1]?.content).toEqual(blocks)
    expect(sent[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }])
  })

  test('each piece stands behind the one before it, at its index where there are so many blocks', () => {
    const indexes = fc.array(fc.option(fc.integer({ min: -1, max: 12 }), { nil: undefined }), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(indexes, fc.integer({ min: 1, max: 5 }), (given, calls) => {
        const tool_calls = Array.from({ length: calls }, (_, at) => call(`t${at}`))
        const expected = tool_calls.map(({ id }) => id)
        const reasoning_details = given.map((index, at): ReasoningDetail => {
          const before = expected.findLastIndex(id => id.startsWith('s')) + 1
          expected.splice(Math.max(before, Math.min(index ?? before, expected.length)), 0, `s${at}`)
          const place = index === undefined ? {} : { index }
          return {
            type: 'reasoning.text',
            format: 'anthropic-claude-v1',
            text: '',
            signature: `s${at}`,
            ...place,
          }
        })
        const messages = conversation({ content: null, tool_calls, reasoning_details })
        const content = toObjects(toObjects(send({ messages }).messages)[1]?.content)
        expect(content.map(({ id, signature }) => id ?? signature)).toEqual(expected)
      }),
    )
  })

  test('is left out if another provider made it', () => {
    const foreign = details.map(detail => ({ ...detail, format: 'google-gemini-v1' as const }))
    const messages = conversation({ tool_calls: [call('toolu_1')], reasoning_details: foreign })
    expect(toObjects(send({ messages }).messages)[1]?.content).toEqual([blocks[1], blocks[3]])
  })

  test('every signature of an answer, plain or streamed, is in the next request', () => {
    const reply = decodeReply({ content: blocks, stop_reason: 'tool_use', usage: {} }, TARGET)
    const message = reply.choices[0]?.message
    const standard = {
      role: 'assistant' as const,
      content: 'Let me see.',
      tool_calls: message?.tool_calls ?? [],
    }
    const messages: Message[] = [{ role: 'user', content: 'hi' }, standard]
    expect(toObjects(send({ messages }).messages)[1]?.content).toEqual(blocks)
  })

  test('after calls without their thinking no budget is requested', () => {
    const messages = conversation({ tool_calls: [call('x')] })
    expect(send({ messages, reasoningEffort: 'low' }, 'claude-sonnet-4-5')).not.toHaveProperty('thinking')
  })
})
