import { describe, expect, test } from 'vitest'
import { openAiChat } from '../../formats/openai-chat/client/client.ts'
import type { JsonObject } from '../../json/json-value.ts'
import type { ChatReply } from '../../reply/chat-reply.ts'
import type { StreamEvent } from '../../stream/stream-event.ts'
import type { Target } from '../../upstream/target.ts'
import { sandbox } from '../sandbox.ts'
import { answerSandbox } from './answer.ts'

const target: Target = { provider: sandbox, model: 'echo', baseUrl: 'http://sandbox.invalid/v1', apiKey: '' }

const user = (content: JsonObject['content']): JsonObject => ({ messages: [{ role: 'user', content }] })

function reply(model: string, body: JsonObject): ChatReply {
  const answer = answerSandbox(model, body)
  if (answer.kind !== 'reply') throw new Error(answer.kind)
  expect(answer.status).toBe(200)
  return openAiChat.decodeReply(answer.body, target)
}

function stream(model: string, body: JsonObject): { events: StreamEvent[]; isCut: boolean } {
  const answer = answerSandbox(model, { ...body, stream: true })
  if (answer.kind !== 'stream') throw new Error(answer.kind)
  const decoder = openAiChat.openStream(target)
  return { events: answer.events.flatMap(data => decoder.decode(data)), isCut: answer.isCut }
}

function said(events: readonly StreamEvent[]): string {
  return events.map(event => (event.type === 'delta' ? (event.content ?? '') : '')).join('')
}

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'first',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
  { type: 'function', function: { name: 'second' } },
]

describe('sandbox/echo', () => {
  test('repeats the last user text, parts too, and counts four bytes a token', () => {
    const body = {
      messages: [
        { role: 'system', content: 'abcd' },
        { role: 'user', content: 'Grüße!!' },
      ],
    }
    expect(reply('echo', body)).toEqual({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße!!' }, finishReason: 'stop' }],
      usage: { uncachedInput: 4, cacheRead: 0, cacheWrite: 0, output: 3, reasoning: 0 },
    })
    expect(
      reply(
        'echo',
        user([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ).choices[0]?.message.content,
    ).toBe('a\nb')
  })

  test('repeats 1,048,576 characters of a longer text, plain and streamed, and halves none', () => {
    const text = `a${'😀'.repeat(1024 * 1024)}`
    const echo = reply('echo', user(text)).choices[0]?.message.content
    expect(echo === `a${'😀'.repeat(512 * 1024)}`).toBe(true)
    const { events } = stream('echo', user(text))
    expect(said(events) === echo).toBe(true)
    const pieces = events.map(event => (event.type === 'delta' ? (event.content ?? '') : ''))
    expect(pieces.filter(piece => piece !== '')).toHaveLength(24)
    expect(pieces.every(piece => piece.isWellFormed())).toBe(true)
  })

  test('the same request is answered alike', () => {
    expect(answerSandbox('echo', user('x'))).toEqual(answerSandbox('echo', user('x')))
  })

  test('streams several pieces that add up, no character halved, with usage where it is asked for', () => {
    const text = '🦜 a parrot repeats '.repeat(20)
    const plain = stream('echo', user(text))
    expect(said(plain.events)).toBe(text)
    expect(plain.events.filter(event => event.type === 'delta').length).toBeGreaterThan(5)
    expect(plain.events.at(-1)).toEqual({ type: 'end' })
    expect(plain.events.some(event => event.type === 'usage')).toBe(false)
    const asked = stream('echo', { ...user(text), stream_options: { include_usage: true } })
    expect(asked.events.at(-2)).toEqual({ type: 'usage', usage: reply('echo', user(text)).usage })
  })

  test('keeps to the output cap, and says so', () => {
    const { choices, usage } = reply('echo', { ...user('äöüäöüäöü'), max_tokens: 1 })
    expect(choices[0]).toMatchObject({ message: { content: 'äö' }, finishReason: 'length' })
    expect(usage?.output).toBe(1)
  })

  test.each([
    {},
    { messages: 'x' },
    { messages: [null, 1, { role: 'user' }] },
    { messages: [], tools: 5, tool_choice: 7 },
  ])('answers %j without a throw', body => {
    expect(reply('echo', body as JsonObject).choices).toHaveLength(1)
  })
})

describe('sandbox/tools', () => {
  test('calls the first tool with arguments of its schema, plain and streamed alike', () => {
    const body = { ...user('x'), tools: TOOLS }
    const choice = reply('tools', body).choices[0]
    expect(choice).toMatchObject({
      finishReason: 'tool_calls',
      message: { content: null, tool_calls: [{ function: { name: 'first', arguments: '{"city":"text"}' } }] },
    })
    const { events } = stream('tools', body)
    const deltas = events.flatMap(event => (event.type === 'delta' ? (event.toolCalls ?? []) : []))
    expect(deltas[0]).toMatchObject({
      index: 0,
      id: choice?.message.tool_calls?.[0]?.id,
      function: { name: 'first' },
    })
    expect(deltas.map(delta => delta.function?.arguments ?? '').join('')).toBe('{"city":"text"}')
  })

  test('calls the chosen tool, and none where none may be called', () => {
    const choose = (tool_choice: JsonObject[string]) =>
      reply('tools', { ...user('x'), tools: TOOLS, tool_choice }).choices[0]
    expect(
      choose({ type: 'function', function: { name: 'second' } })?.message.tool_calls?.[0]?.function,
    ).toEqual({ name: 'second', arguments: '{}' })
    expect(choose('none')).toMatchObject({ finishReason: 'stop', message: { content: 'x' } })
  })

  test('answers a tool result with text', () => {
    const messages = [
      ...(user('x').messages as JsonObject[]),
      { role: 'tool', tool_call_id: 'a', content: '21 °C' },
    ]
    expect(reply('tools', { messages, tools: TOOLS }).choices[0]).toMatchObject({
      finishReason: 'stop',
      message: { content: 'The tool answered: 21 °C' },
    })
  })
})

describe('the tool loop', () => {
  const call = (id: string): JsonObject => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'first', arguments: '{}' } }],
  })
  const result = (id: string, content: string): JsonObject => ({ role: 'tool', tool_call_id: id, content })
  const begin = user('x').messages as JsonObject[]

  test('answers all results of a turn, also where the user adds words to them', () => {
    const messages = [
      ...begin,
      call('a'),
      result('a', 'one'),
      result('b', 'two'),
      { role: 'user', content: 'A reminder.' },
    ]
    expect(reply('tools', { messages, tools: TOOLS }).choices[0]?.message.content).toBe(
      'The tool answered: one\ntwo',
    )
  })

  test('calls again in the next turn, by another id', () => {
    const messages = [...begin, call('call_sandbox'), result('call_sandbox', 'one')]
    const next = [...messages, { role: 'assistant', content: 'one' }, { role: 'user', content: 'again' }]
    const ids = [begin, next].map(
      each => reply('tools', { messages: each, tools: TOOLS }).choices[0]?.message.tool_calls?.[0]?.id,
    )
    expect(ids).toEqual(['call_sandbox', 'call_sandbox_2'])
  })

  test('answers results by the response format', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const messages = [...begin, call('a'), result('a', 'one')]
    expect(reply('reasoning', { messages, tools: TOOLS, response_format }).choices[0]?.message.content).toBe(
      '{"n":0}',
    )
  })
})

describe('sandbox/reasoning', () => {
  const body = user('How high is it?')
  const turnAfter = (details: JsonObject[]): JsonObject => ({
    messages: [
      ...(body.messages as JsonObject[]),
      { role: 'assistant', content: 'High.', reasoning_details: details },
      { role: 'user', content: 'And now?' },
    ],
  })

  test('thinks before its answer, plain and streamed alike, and counts it', () => {
    const { choices, usage } = reply('reasoning', body)
    const { content, reasoning, reasoning_details } = choices[0]?.message ?? {}
    expect([content, reasoning]).toEqual(['How high is it?', 'The caller wrote: How high is it?'])
    expect(usage).toMatchObject({ reasoning: 9, output: 4 })
    const { events } = stream('reasoning', body)
    expect(said(events)).toBe('How high is it?')
    const deltas = events.flatMap(event => (event.type === 'delta' ? [event] : []))
    expect(deltas.map(delta => delta.reasoning ?? '').join('')).toBe(reasoning)
    expect(deltas.flatMap(delta => delta.reasoningDetails ?? [])).toEqual(reasoning_details)
  })

  test('counts the messages whose reasoning came back, and refuses a changed signature', () => {
    const details = reply('reasoning', body).choices[0]?.message.reasoning_details as unknown as JsonObject[]
    expect(reply('reasoning', turnAfter(details)).choices[0]?.message.content).toBe(
      'Signed reasoning came back from 1 of my messages. And now?',
    )
    const changed = details.map(detail => ({ ...detail, text: 'other' }))
    expect(answerSandbox('reasoning', turnAfter(changed))).toMatchObject({ kind: 'reply', status: 400 })
  })

  test('takes reasoning that another provider signed for none', () => {
    const foreign = { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'a', signature: 'b' }
    expect(reply('reasoning', turnAfter([foreign])).choices[0]?.message.content).toBe('And now?')
  })
})

describe('several choices', () => {
  const choicesOf = (body: JsonObject): JsonObject[] => {
    const answer = answerSandbox('echo', body)
    if (answer.kind !== 'reply') throw new Error(answer.kind)
    return answer.body.choices as JsonObject[]
  }

  test('are equal, each counted, plain and streamed', () => {
    const body = { ...user('one two three'), n: 3 }
    expect(choicesOf(body).map(({ index, message }) => [index, (message as JsonObject).content])).toEqual([
      [0, 'one two three'],
      [1, 'one two three'],
      [2, 'one two three'],
    ])
    expect(reply('echo', body).usage).toMatchObject({
      output: 3 * reply('echo', user('one two three')).usage!.output,
    })
    const answer = answerSandbox('echo', { ...body, stream: true })
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const pieces = answer.events.filter(event => event.startsWith('{')).map(event => JSON.parse(event))
    const texts = ['', '', '']
    for (const { choices } of pieces)
      for (const { index, delta } of choices) texts[index] += delta.content ?? ''
    expect(texts).toEqual(['one two three', 'one two three', 'one two three'])
  })

  test('have at most 1,048,576 characters together, and are at most 8', () => {
    const body = { ...user('x'.repeat(2_000_000)), n: 8 }
    expect(choicesOf(body).map(({ message }) => ((message as JsonObject).content as string).length)).toEqual(
      Array.from({ length: 8 }, () => 131_072),
    )
    expect(answerSandbox('echo', { ...body, n: 9 })).toMatchObject({ kind: 'reply', status: 400 })
  })
})

test('sandbox/json: an instance of the schema, or an object', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 2 } }, required: ['n'] }
  const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
  const content = (body: JsonObject) =>
    JSON.parse(reply('json', body).choices[0]?.message.content ?? '') as unknown
  expect(content({ ...user('x'), response_format: format })).toEqual({ n: 2 })
  expect(content({ ...user('x'), response_format: { type: 'json_object' } })).toEqual({ echo: 'x' })
  expect(content(user('x'))).toEqual({ echo: 'x' })
})

describe('the failures an app must handle', () => {
  test('sandbox/slow waits five seconds, plain and streamed', () => {
    expect(answerSandbox('slow', user('x'))).toMatchObject({ kind: 'reply', delayMs: 5000 })
    expect(answerSandbox('slow', { ...user('x'), stream: true })).toMatchObject({
      kind: 'stream',
      delayMs: 5000,
    })
  })

  test('sandbox/timeout never answers', () => {
    expect(answerSandbox('timeout', user('x'))).toEqual({ kind: 'timeout' })
  })

  test.each([
    ['overloaded', 'overloaded'],
    ['unavailable', 'unavailable'],
    ['rejected', 'bad_request'],
    ['nothing', 'model_not_found'],
  ])('sandbox/%s is classified as %s', (model, kind) => {
    const answer = answerSandbox(model, { ...user('x'), stream: true })
    if (answer.kind !== 'reply') throw new Error(answer.kind)
    expect(openAiChat.decodeError(answer.status, answer.headers, JSON.stringify(answer.body)).kind).toBe(kind)
  })

  test('sandbox/interrupted: a stream that breaks off in its text, an answer that breaks off in its JSON', () => {
    const { events, isCut } = stream('interrupted', user('a long enough text to be cut'))
    expect(isCut).toBe(true)
    expect(said(events)).not.toBe('')
    expect(
      events.some(
        event => event.type === 'end' || (event.type === 'delta' && event.finishReason !== undefined),
      ),
    ).toBe(false)
    const plain = answerSandbox('interrupted', user('x'))
    if (plain.kind !== 'cut') throw new Error(plain.kind)
    expect(() => JSON.parse(plain.body)).toThrow()
  })
})

test('every chat model of the catalogue is one that answers', () => {
  for (const { id, capabilities } of sandbox.catalog?.models ?? []) {
    if (!capabilities.includes('chat')) continue
    const answer = answerSandbox(id, user('x'))
    if (answer.kind === 'reply') expect(answer.status).not.toBe(404)
  }
})
