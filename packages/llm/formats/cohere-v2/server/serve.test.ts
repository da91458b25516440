import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import { cohere } from '../../../providers/cohere.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { anyStream } from '../../../testing/any-stream.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/serve-cohere-v2.ts'
import { listAnswers, readAnswer } from '../../../testing/recorded-answers.ts'
import { hasRecordings, listRecordedRequests, toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { encodeRequest as encodeForOpenAi } from '../../openai-chat/client/encode-request.ts'
import { cohereV2 } from '../client/client.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { encodeReply } from './encode-reply.ts'
import { ChatEventEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

const parse = (body: JsonObject) =>
  parseRequest(body, { source: toSourceBody('cohere-v2', body), pathModel: '', isEndUser: false })
const target: Target = { provider: cohere, model: 'm', baseUrl: 'https://x/v2', apiKey: '' }
const ENVELOPE = { id: 'c1', created: 0, model: 'p/m' }
const USAGE: Usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 6 }
const call = (id: string, args = '{"a":1}'): ToolCall & JsonObject => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})

describe('an answer for a caller of this format', () => {
  const message = { role: 'assistant' as const, content: 'hi', reasoning: 'hm', tool_calls: [call('t1')] }
  const reply: ChatReply = { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE }

  test('every field that clients read, in this format’s arithmetic', () => {
    const usage = { uncachedInput: 1, cacheRead: 2, cacheWrite: 3, cacheWrite1h: 4, output: 5, reasoning: 6 }
    expect(encodeReply({ ...reply, usage }, ENVELOPE)).toEqual({
      id: 'c1',
      finish_reason: 'TOOL_CALL',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'hi' },
        ],
        tool_calls: [call('t1')],
      },
      usage: {
        billed_units: { input_tokens: 10, output_tokens: 11 },
        tokens: { input_tokens: 10, output_tokens: 11, reasoning_tokens: 6 },
        cached_tokens: 2,
      },
    })
  })

  test('an answer that was encoded decodes to itself', () => {
    expect(decodeReply(encodeReply(reply, ENVELOPE))).toEqual(reply)
  })

  test.each(['stop', 'length', 'content_filter'] as const)('an end by %s is told as one', finishReason => {
    const ended = { ...reply, choices: [{ index: 0, message: { ...message, tool_calls: [] }, finishReason }] }
    expect(decodeReply(encodeReply(ended, ENVELOPE)).choices[0]?.finishReason).toBe(finishReason)
  })

  test('parts and calls of any stream begin and end one after the other, and say what was said', () => {
    fc.assert(
      fc.property(anyStream, ({ events, said }) => {
        const reason = said.calls.length > 0 ? 'tool_calls' : 'stop'
        const encoder = new ChatEventEncoder(ENVELOPE)
        const wire = [...events.flatMap(event => encoder.encode(event)), ...encoder.finish(reason, USAGE)]
        expectSound(wire)
        const decoder = openStream()
        const sum = addUp(wire.flatMap(event => decoder.decode(JSON.stringify(event))))
        expect(said).toEqual({
          content: sum.content,
          reasoning: sum.reasoning,
          calls: sum.calls.map(({ arguments: text }) => text),
        })
        expect([sum.finishReason, sum.usage, sum.isEnded]).toEqual([reason, USAGE, true])
      }),
    )
  })

  test('a failure closes what is open and ends with a reason that no whole answer has', () => {
    const encoder = new ChatEventEncoder(ENVELOPE)
    const events = [
      ...encoder.encode({ type: 'delta', index: 0, content: 'a' }),
      ...encoder.fail({ error: 'e' }),
    ]
    expectSound(events)
    expect(events.at(-1)).toEqual({ type: 'message-end', delta: { error: 'e', finish_reason: 'ERROR' } })
  })
})

/** Numbers count up from 0 for parts and for calls, and what began ends once. */
function expectSound(wire: readonly JsonObject[]): void {
  const open = new Set<string>()
  const begun = { content: 0, 'tool-call': 0 }
  expect([wire[0]?.type, wire.at(-1)?.type]).toEqual(['message-start', 'message-end'])
  for (const { type, index } of wire.slice(1, -1)) {
    const [, kind, step] = /^(content|tool-call)-(\w+)$/.exec(String(type)) ?? []
    const name = `${kind} ${String(index)}`
    if (step === 'start') {
      expect(open.size).toBe(0)
      expect(index).toBe(begun[kind as keyof typeof begun]++)
      open.add(name)
    } else expect(open.has(name)).toBe(true)
    if (step === 'end') open.delete(name)
  }
  expect(open.size).toBe(0)
}

describe('a request of this format for another provider', () => {
  const body: JsonObject = {
    model: 'x',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm. ' },
          { type: 'text', text: 'ok' },
        ],
        tool_plan: 'Ask.',
        tool_calls: [call('t1', 'null')],
        citations: [{ start: 0, end: 1 }],
      },
      {
        role: 'tool',
        tool_call_id: 't1',
        content: [
          { type: 'document', document: { id: 'd', data: { a: 'b' } } },
          { type: 'document', document: { data: 'words' } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'd' } }],
    tool_choice: 'NONE',
    response_format: { type: 'json_object', json_schema: { type: 'object' } },
    thinking: { type: 'enabled', token_budget: 2048 },
    stop_sequences: ['x'],
  }
  const { request, findings } = parse(body)

  test('contains every field that other formats can express', () => {
    expect(findings?.nativeOnly).toEqual([])
    expect(request).toMatchObject({
      toolChoice: 'none',
      reasoningEffort: 'low',
      responseFormat: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
      stop: ['x'],
    })
    expect(request.messages[2]).toMatchObject({ reasoning: 'hm. Ask.' })
  })

  test('holds nothing of this format’s own when OpenAI’s is sent', () => {
    const source = { format: 'cohere-v2' as const, bytes: Buffer.from('{}'), value: {}, fields: new Map() }
    const other = { ...target, provider: custom }
    const sent = JSON.parse(encodeForOpenAi(request, other, source).body.toString())
    expect(sent.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
        ],
      },
      { role: 'assistant', content: 'ok', tool_calls: [call('t1', '{}')] },
      { role: 'tool', tool_call_id: 't1', content: '{"a":"b"}\nwords' },
    ])
  })

  test.each<[JsonObject, string | undefined]>([
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ thinking: { type: 'enabled' } }, 'high'],
    [{ thinking: { type: 'enabled', token_budget: 100 } }, 'minimal'],
    [{ thinking: { type: 'enabled', token_budget: 8000 } }, 'medium'],
    [{ thinking: { type: 'enabled', token_budget: 9000 } }, 'high'],
    [{}, undefined],
  ])('%j asks for the effort %s', (fields, effort) => {
    const { request: asked } = parse({
      model: 'm',
      messages: [{ role: 'user', content: 'a' }],
      ...fields,
    })
    expect(asked.reasoningEffort).toBe(effort)
  })

  test('what only this format has is named, and what asks for nothing is not', () => {
    const { findings: found, request: asked } = parse({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'hologram' }] }],
      documents: ['d'],
      k: 3,
      novelty: true,
      logprobs: false,
      citation_options: { mode: 'OFF' },
      safety_mode: 'CONTEXTUAL',
      priority: 1,
    })
    expect(found?.nativeOnly).toEqual(['documents', 'k', 'novelty', 'messages[0].content[1]'])
    // Documents that pass through are billed as input.
    expect(asked.passedInput).toEqual(['d'])
  })
})

describe('a body that passes through', () => {
  const source = toSourceBody('cohere-v2', {
    model: 'a',
    messages: [
      { role: 'assistant', tool_calls: [call('t1__rd1__x')] },
      { role: 'tool', tool_call_id: 't1__rd1__x', content: 'r' },
    ],
    max_tokens: 100,
    novelty: 1.5,
  })
  const request: ChatRequest = {
    model: 'p/a',
    messages: [],
    stream: false,
    includeUsage: true,
    maxOutputTokens: 7,
  }

  test('gets the target model and the output cap, loses the marks of the gateway, and keeps all other bytes', () => {
    const { body } = cohereV2.encodeRequest({ ...request, carriesReasoning: true }, target, source)
    expect(JSON.parse(body.toString())).toEqual({
      model: 'm',
      messages: [
        { role: 'assistant', tool_calls: [call('t1')] },
        { role: 'tool', tool_call_id: 't1', content: 'r' },
      ],
      max_tokens: 7,
      novelty: 1.5,
    })
  })

  test('has carriesReasoning if a tool-call id has a mark of the gateway', () => {
    const marked = JSON.parse(source.bytes.toString()) as JsonObject
    expect(parse({ ...marked, max_tokens: 9 }).request).toMatchObject({
      carriesReasoning: true,
      receivedOutputCap: 9,
    })
    expect(parse({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }).request).not.toHaveProperty(
      'carriesReasoning',
    )
  })

  test('is the provider’s to judge', () => {
    const asked = { ...request, parallelToolCalls: false, presencePenalty: 2 }
    expect(cohereV2.listUnsupportedParams(asked, cohere, 'm', source)).toEqual([])
  })
})

/** A text is written as such or as a part, and an empty one says nothing: both are read alike. */
function normalize({ messages, ...body }: JsonObject): JsonObject {
  const read = (content: Json | undefined): Json => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : toObjects(content)
    return parts.filter(({ text }) => text !== '')
  }
  return { ...body, messages: toObjects(messages).map(each => ({ ...each, content: read(each.content) })) }
}

if (!hasRecordings) console.log('skipped: the recordings of ../shared/wire are not there (98 exchanges)')

describe.skipIf(!hasRecordings)('a recorded request of this format, served by us', () => {
  const taken = listRecordedRequests('cohere', 'cohere-chat').filter(({ status }) => status === 200)
  const justified = openJustifications(JUSTIFIED)

  test('there are as many as there were', () => {
    expect(taken.length).toBe(45)
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, { body }) => {
    const { request, findings } = parse(body)
    const to = { ...target, model: String(body.model) }
    const sent = JSON.parse(cohereV2.encodeRequest(request, to, undefined).body.toString())
    expect(justified.unexplained(name, findDifferences(normalize(sent), normalize(body)))).toEqual([])
    expect(findings?.nativeOnly).toEqual([])
    const passed = cohereV2.encodeRequest(request, to, toSourceBody('cohere-v2', body)).body.toString()
    expect(passed).toBe(JSON.stringify(body))
  })

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})

describe.skipIf(!hasRecordings)(
  'a recorded answer of this format, decoded and encoded again, says the same',
  () => {
    const plain = listAnswers('cohere-v2', 'unary')
      .map(path => [path, readAnswer(path, 'sse')] as const)
      .filter(([, { status }]) => status === 200)
    const streamed = listAnswers('cohere-v2', 'stream')
      .map(path => [path, readAnswer(path, 'sse')] as const)
      .filter(([, { status }]) => status === 200)

    test('there are as many as there were', () => {
      expect([plain.length, streamed.length]).toEqual([38, 15])
    })

    test.each(plain)('%s: plain, and as a stream', (_, { json }) => {
      const reply = decodeReply(json as JsonObject)
      expect(decodeReply(encodeReply(reply, ENVELOPE))).toEqual(reply)
      const [choice] = reply.choices
      if (choice === undefined || reply.usage === undefined) throw new Error('there is no answer')
      const { content, reasoning, tool_calls: calls = [] } = choice.message
      const events: StreamEvent[] = [
        { type: 'delta', index: 0, ...(reasoning === undefined ? {} : { reasoning }) },
        { type: 'delta', index: 0, ...(content === null ? {} : { content }) },
        { type: 'delta', index: 0, toolCalls: calls.map((each, index) => ({ index, ...each })) },
      ]
      const sum = restream(events, choice.finishReason, reply.usage)
      expect(sum).toMatchObject({ content: content ?? '', reasoning: reasoning ?? '', usage: reply.usage })
      expect(sum.calls).toEqual(calls.map(({ id, function: fn }) => ({ id, ...fn })))
      expect(sum.finishReason).toBe(choice.finishReason)
    })

    test.each(streamed)('%s: streamed', (_, { frames }) => {
      const decoder = openStream()
      const events = frames.flatMap(({ data }) => decoder.decode(data))
      const { finishReason = 'stop', usage, ...said } = addUp(events)
      if (usage === undefined) throw new Error('usage was lost')
      expect(restream(events, finishReason, usage)).toEqual({ ...said, finishReason, usage })
    })
  },
)

function restream(
  events: readonly StreamEvent[],
  reason: 'stop' | 'length' | 'tool_calls' | 'content_filter',
  usage: Usage,
) {
  const encoder = new ChatEventEncoder(ENVELOPE)
  const wire = [...events.flatMap(event => encoder.encode(event)), ...encoder.finish(reason, usage)]
  const decoder = openStream()
  return addUp(wire.flatMap(event => decoder.decode(JSON.stringify(event))))
}
