import { parseRequest } from '@rideau/llm/formats/openai-chat/server/parse-request'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { measureMs } from '@rideau/llm/testing/measure-ms'
import { describe, expect, test } from 'vitest'
import { type Random, systemRandom } from '../../core/random.ts'
import { countInput, countMaxInput } from './count-input.ts'
import { countUnread } from './count-unread.ts'
import { countRequest, type InputCounts } from './input-counts.ts'

const MiB = 1_048_576
const PROSE = 'The quick brown fox jumps over the lazy dog; 42 times. '
const prose = (chars: number): string => PROSE.repeat(Math.ceil(chars / PROSE.length))
const user = (...content: object[]): object => ({ role: 'user', content })
const text = (value: string): object => ({ type: 'text', text: value })
const HI = { role: 'user', content: 'hi' }

interface Received {
  readonly request: ChatRequest
  readonly source: SourceBody
}

function receive(fields: object): Received {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', ...fields }))
  const value = JSON.parse(bytes.toString()) as JsonObject
  const source = { format: 'openai-chat' as const, bytes, value, fields: new Map() }
  return { request: parseRequest(value, { source, pathModel: '', isEndUser: false }).request, source }
}

const count = ({ request, source }: Received, random: Random = systemRandom): InputCounts =>
  countRequest(request, source, random)

/** CPU time of this thread for the quickest of six counts. The code of the first ones is not compiled yet. */
function measure(received: Received): number {
  const times = Array.from({ length: 6 }, () => {
    const request = { ...received.request }
    return measureMs(() => count({ ...received, request }))
  })
  return Math.min(...times)
}

const parts = (each: (at: number) => object, length: number): object => ({
  messages: [user(...Array.from({ length }, (_, at) => each(at)))],
})
const base64 = (chars: number): string => 'QUJDabcd'.repeat(chars / 8)

describe('a body of up to 32 MiB', () => {
  // Read whole, each took 100 to 400 ms.
  test.each<[string, () => object]>([
    ['one text', () => ({ messages: [{ role: 'user', content: prose(31 * MiB) }] })],
    [
      'one text of two-byte characters',
      () => ({ messages: [{ role: 'user', content: `人${prose(31 * MiB)}` }] }),
    ],
    ['20,000 texts', () => parts(() => text(prose(1_500)), 20_000)],
    [
      '60,000 texts that are not read',
      () => ({ messages: [HI], documents: Array.from({ length: 60_000 }, () => prose(500)) }),
    ],
    [
      'reasoning',
      () => ({
        messages: [{ role: 'assistant', content: prose(15 * MiB), reasoning_content: prose(15 * MiB) }],
      }),
    ],
    [
      'a tool',
      () => ({
        messages: [HI],
        tools: [{ type: 'function', function: { name: 'f', description: prose(31 * MiB) } }],
      }),
    ],
    [
      'a file',
      () =>
        parts(() => ({ type: 'file', file: { file_data: `data:text/plain;base64,${base64(24 * MiB)}` } }), 1),
    ],
    [
      '31 files',
      () => parts(() => ({ type: 'file', file: { file_data: `data:text/plain;base64,${base64(MiB)}` } }), 31),
    ],
    [
      'audio',
      () =>
        parts(
          () => ({ type: 'input_audio', input_audio: { format: 'ogg', data: `T2dn${base64(24 * MiB)}` } }),
          1,
        ),
    ],
    [
      '9,000 images',
      () =>
        parts(
          () => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64(3_200)}` } }),
          9_000,
        ),
    ],
  ])('is counted in some milliseconds: %s', (_, make) => {
    expect(measure(receive(make()))).toBeLessThan(40)
  })
})

test('is counted once for all targets, so that no place of a sample is compared with another', () => {
  let drawn = 0
  const random: Random = {
    bytes(length) {
      drawn++
      return systemRandom.bytes(length)
    },
  }
  const received = receive({ messages: [{ role: 'user', content: prose(2 * MiB) }] })
  const first = count(received, random)
  for (let target = 1; target < 8; target++) expect(count(received, random)).toBe(first)
  expect(drawn).toBe(1)
})

const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"\\n"}' } }
const TOOL = {
  type: 'function',
  function: { name: 'f', description: 'a\n"b"', parameters: { type: 'object' } },
}
const small = (content: string): object => ({
  messages: [
    { role: 'system', content },
    { role: 'assistant', content: null, tool_calls: [CALL], reasoning_content: content },
    { role: 'tool', tool_call_id: 'c', content },
    user(
      text(content),
      { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
      { type: 'other', a: [content] },
    ),
  ],
  tools: [TOOL],
  response_format: { type: 'json_object' },
})

test('a body of up to a mebibyte is counted exactly', () => {
  const received = receive(small('人工智能 The fox 42. '.repeat(5_000)))
  const { request, source } = received
  expect(count(received)).toMatchObject({
    likely: countInput(request),
    most: countMaxInput(request),
    unread: countUnread(request, source.value as { [name: string]: Json }),
    packed: 0,
  })
})

test.each([
  ['prose', prose(400_000)],
  ['Chinese', '人工智能网关按令牌计费'.repeat(40_000)],
  ['code', 'if (a[i] !== "b") {\n\treturn { ok: false, at: [i, 1024] }\n}\n'.repeat(7_000)],
])(
  'a longer body is counted within a few per cent, in texts, JSON and what is not read: %s',
  (_, content) => {
    const received = receive(small(content))
    const { request, source } = received
    const { likely, most, unread } = count(received)
    const exact = [countInput(request), countMaxInput(request), countUnread(request, source.value)] as const
    expect(Math.abs(likely / exact[0] - 1)).toBeLessThan(0.02)
    expect(most / exact[1]).toBeGreaterThan(0.999)
    expect(most / exact[1]).toBeLessThan(1.05)
    expect(unread / exact[2]).toBeGreaterThan(0.95)
    expect(unread / exact[2]).toBeLessThan(1.15)
  },
)

test('what is not read of a long body has at most the tokens that its characters can have', () => {
  const content = prose(20 * MiB)
  const all = (reasoning: string): object => ({
    messages: [{ role: 'assistant', content, reasoning_content: reasoning }],
  })
  expect(count(receive(all('')))).toMatchObject({ unread: 0 })
  const { unread } = count(receive(all('人'.repeat(10_000))))
  expect(unread).toBeGreaterThan(2_400)
  expect(unread).toBeLessThanOrEqual(12_500)
})

test('samples in WAV files are counted by their bytes, however long the file is', () => {
  const wav = Buffer.alloc(9 * MiB, 0x5a)
  wav.write('RIFF', 0, 'latin1')
  wav.write('WAVEfmt ', 8, 'latin1')
  for (const [at, value] of [16, 0x10001, 8_000, 16_000, 0x100002].entries())
    wav.writeUInt32LE(value, 16 + 4 * at)
  const audio = (data: string): object =>
    parts(() => ({ type: 'input_audio', input_audio: { format: 'wav', data } }), 1)
  expect(count(receive(audio(wav.toString('base64')))).audio.tokens).toBe(0)
  wav.write('OggS', 0, 'latin1')
  expect(count(receive(audio(wav.toString('base64')))).audio.tokens).toBe(MiB)
})
