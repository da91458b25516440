import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectShort, type LoopMonitor, openLoopMonitor } from './loop-monitor.ts'
import { addProvider, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

/**
 * What is written in another format than it came in holds the event loop for about 50 ms at most, whoever makes it long: a caller with
 * any key, or a provider that a tenant runs.
 */

const MiB = 1024 * 1024

interface Answer {
  readonly body: string
  readonly type?: string
}

let home: ProgramHome
let program: Program
let monitor: LoopMonitor
let secretKey: string
let upstream: Server
let answer: Answer = { body: '' }

beforeAll(async () => {
  home = await openProgramHome()
  monitor = await openLoopMonitor()
  program = await home.start(monitor.env)
  const keys = await setUp(program)
  secretKey = keys.secretKey
  upstream = createServer((req, res) => {
    // An answer that comes before the request was read would end it.
    req.resume().on('end', () => {
      const { type = 'application/json', body } = answer
      res.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
      res.end(body)
    })
  })
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  for (const provider of ['custom', 'openai', 'anthropic', 'gemini'])
    await addProvider(program, keys, provider, `http://127.0.0.1:${port}/v1`)
  answer = CHAT_ANSWER
  for (let at = 0; at < 50; at++) await call(CHAT, chat('custom/m', 'hi'))
})

afterAll(async () => {
  await program.stop()
  home.remove()
  upstream.closeAllConnections()
  upstream.close()
})

const CHAT = '/openai/v1/chat/completions'
const RESPONSES = '/openai/v1/responses'
const MESSAGES = '/anthropic/v1/messages'
const GENERATE = '/gemini/v1beta/models/custom%2Fm:generateContent'
const STREAM = '/gemini/v1beta/models/custom%2Fm:streamGenerateContent?alt=sse'

async function call(path: string, body: string | FormData): Promise<number> {
  const response = await fetch(program.gatewayUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secretKey}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    body,
  })
  await response.arrayBuffer()
  return response.status
}

const expectShortCall = (path: string, body: string | FormData, status: number): Promise<void> =>
  expectShort(monitor, async () => expect(await call(path, body)).toBe(status))

const chat = (model: string, content: string, more: object = {}): string =>
  JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content }], ...more })
/** A conversation in which a tool was called. */
const called = (model: string, args: string, result: string): string =>
  chat(model, 'hi', {
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'c', content: result },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
  })
const used = (model: string, input: object): string =>
  JSON.stringify({
    model,
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] },
    ],
  })
const long = (bytes: number): string => 'x'.repeat(bytes)

const choice = (message: object): Answer => ({
  body: JSON.stringify({ id: 'a', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
})
const CHAT_ANSWER = choice({ role: 'assistant', content: 'hi' })
const CLAUDE_ANSWER: Answer = {
  body: JSON.stringify({
    ...{ id: 'a', type: 'message', role: 'assistant', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'hi' }],
  }),
}
const GEMINI_ANSWER: Answer = {
  body: JSON.stringify({ candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }] }),
}
const CLAUDE = 'anthropic/claude-sonnet-4-5'
const GEMINI = 'gemini/gemini-2.5-flash'

describe('a long request that is sent in another format', () => {
  test.each<[string, number, Answer, () => readonly [string, string]]>([
    ['a text, to Claude', 200, CLAUDE_ANSWER, () => [CHAT, chat(CLAUDE, long(31 * MiB))]],
    [
      'control characters and half a surrogate pair, to Gemini',
      200,
      GEMINI_ANSWER,
      () => [CHAT, chat(GEMINI, `${'\u0001'.repeat(5 * MiB)}\ud800`)],
    ],
    [
      'a text, to a server of OpenAI’s format',
      200,
      CHAT_ANSWER,
      () => [MESSAGES, chat('custom/m', long(31 * MiB))],
    ],
    ['a text that passes through', 200, CHAT_ANSWER, () => [CHAT, chat('custom/m', long(31 * MiB))]],
    [
      'many short messages',
      200,
      CHAT_ANSWER,
      () => [
        MESSAGES,
        chat('custom/m', '', {
          messages: Array.from({ length: 9_000 }, () => ({ role: 'user', content: long(3_000) })),
        }),
      ],
    ],
    [
      'arguments of 31 MiB, to Claude',
      413,
      CLAUDE_ANSWER,
      () => [CHAT, called(CLAUDE, JSON.stringify({ a: long(31 * MiB) }), 'x')],
    ],
    [
      'an input of 31 MiB, to a server of OpenAI’s format',
      413,
      CHAT_ANSWER,
      () => [MESSAGES, used('custom/m', { a: long(31 * MiB) })],
    ],
    [
      'arguments and results that pass, to Gemini',
      200,
      GEMINI_ANSWER,
      () => [
        CHAT,
        called(GEMINI, JSON.stringify({ a: long(4 * MiB - 20) }), JSON.stringify({ a: long(16 * MiB - 20) })),
      ],
    ],
  ])('holds the event loop shortly: %s', async (_, status, answered, make) => {
    answer = answered
    await expectShortCall(...make(), status)
  })
})

const TEXT = choice({ role: 'assistant', content: long(31 * MiB) })
const frames = (deltas: readonly object[]): Answer => ({
  type: 'text/event-stream',
  body: [
    ...deltas.map(delta => JSON.stringify({ id: 'a', choices: [{ index: 0, delta }] })),
    JSON.stringify({ id: 'a', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    '[DONE]',
  ]
    .map(data => `data: ${data}\n\n`)
    .join(''),
})
const pieces = (count: number, toDelta: (text: string) => object): Answer =>
  frames(Array.from({ length: count }, () => toDelta(long(512 * 1024))))
/** A tenth of a second of silence. */
const SOUND = Buffer.alloc(44 + 1_600)
SOUND.write('RIFF')
SOUND.writeUInt32LE(SOUND.length - 8, 4)
SOUND.write('WAVEfmt ', 8)
for (const [at, value] of [16, 0x10001, 8_000, 16_000, 0x100002].entries())
  SOUND.writeUInt32LE(value, 16 + 4 * at)
SOUND.write('data', 36)
SOUND.writeUInt32LE(1_600, 40)
const form = (format: string): FormData => {
  const fields = new FormData()
  fields.set('model', 'openai/whisper-1')
  fields.set('response_format', format)
  fields.set('file', new Blob([SOUND]), 'a.wav')
  return fields
}
const transcript = (fields: object): Answer => ({
  body: JSON.stringify({ text: 'hi', duration: 1, ...fields }),
})
const SEGMENTS = transcript({
  segments: Array.from({ length: 80_000 }, (_, at) => ({ id: at, start: at, end: at + 1, text: long(250) })),
})

describe('a long answer that is sent in another format', () => {
  test.each<[string, number, Answer, () => readonly [string, string | FormData]]>([
    ['a text, as Claude’s', 200, TEXT, () => [MESSAGES, chat('custom/m', 'hi')]],
    ['a text, as Gemini’s', 200, TEXT, () => [GENERATE, '{"contents":[{"parts":[{"text":"hi"}]}]}']],
    ['a text, as a response', 200, TEXT, () => [RESPONSES, '{"model":"custom/m","input":"hi"}']],
    [
      'a text of escapes and pairs of surrogates, as Claude’s',
      200,
      choice({ role: 'assistant', content: '\u0001😀"'.repeat(4 * MiB) }),
      () => [MESSAGES, chat('custom/m', 'hi')],
    ],
    [
      'an input of a call of 31 MiB',
      503,
      {
        body: JSON.stringify({
          ...{ id: 'a', type: 'message', role: 'assistant', stop_reason: 'tool_use' },
          content: [{ type: 'tool_use', id: 'c', name: 'f', input: { a: long(31 * MiB) } }],
        }),
      },
      () => [CHAT, chat(CLAUDE, 'hi')],
    ],
    [
      'a transcript',
      200,
      transcript({ segments: [{ text: long(24 * MiB) }] }),
      () => [TRANSCRIPTS, form('verbose_json')],
    ],
    ['a transcript of many segments', 200, SEGMENTS, () => [TRANSCRIPTS, form('verbose_json')]],
    [
      'a transcript with many fields',
      200,
      transcript({ words: Object.fromEntries(Array.from({ length: 65_000 }, (_, at) => [`k${at}`, at])) }),
      () => [TRANSCRIPTS, form('verbose_json')],
    ],
    ['a transcript as subtitles', 200, SEGMENTS, () => [TRANSCRIPTS, form('srt')]],
  ])('holds the event loop shortly: %s', async (_, status, answered, make) => {
    answer = answered
    await expectShortCall(...make(), status)
  })

  test.each<[string, Answer, () => readonly [string, string]]>([
    ['a text of 100 MiB', pieces(200, content => ({ content })), responses],
    ['as much text as passes', pieces(4, content => ({ content: content.slice(50) })), responses],
    [
      'a text of 100 MiB before a call',
      frames([
        ...Array.from({ length: 200 }, () => ({ content: long(512 * 1024) })),
        { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      ]),
      responses,
    ],
    [
      'arguments of 31 MiB',
      frames([
        {
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"' } }],
        },
        ...Array.from({ length: 62 }, () => ({
          tool_calls: [{ index: 0, function: { arguments: long(512 * 1024) } }],
        })),
        { tool_calls: [{ index: 0, function: { arguments: '"}' } }] },
      ]),
      () => [STREAM, '{"contents":[{"parts":[{"text":"hi"}]}]}'],
    ],
    [
      'a text of 31 MiB between the pieces of a call',
      frames([
        { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{' } }] },
        ...Array.from({ length: 62 }, () => ({ content: long(512 * 1024) })),
      ]),
      () => [MESSAGES, chat('custom/m', 'hi', { stream: true })],
    ],
  ])('holds the event loop shortly while it is streamed: %s', async (_, answered, make) => {
    answer = answered
    await expectShortCall(...make(), 200)
  })
})

const TRANSCRIPTS = '/openai/v1/audio/transcriptions'

function responses(): readonly [string, string] {
  return [RESPONSES, '{"model":"custom/m","input":"hi","stream":true}']
}
