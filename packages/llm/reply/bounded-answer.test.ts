import { describe, expect, test } from 'vitest'
import { FORMATS } from '../formats/index.ts'
import type { ClientFormat } from '../formats/shared/client-format.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import { measureMs } from '../testing/measure-ms.ts'
import { assertBoundedAnswer } from './bounded-answer.ts'

const MiB = 1_048_576
const list = (count: number, one: Json): Json[] => Array.from({ length: count }, () => structuredClone(one))
const chat = (fields: JsonObject): JsonObject => ({ choices: [{ message: fields }] })

describe('an answer is read', () => {
  test.each<[string, JsonObject]>([
    [
      'with the probabilities of many tokens',
      { choices: [{ logprobs: { content: list(40_000, { token: 'a', top_logprobs: [] }) }, message: {} }] },
    ],
    [
      'with as many objects as a million tokens have',
      chat({ tool_calls: [{ function: { name: 'f', arguments: list(32_000, { a: 1 }) } }] }),
    ],
    ['with a long text', chat({ content: 'x'.repeat(60 * MiB) })],
    ['with the numbers of a long prompt', { prompt_token_ids: list(1_000_000, 1), choices: [] }],
    ['with long arguments', chat({ tool_calls: [{ function: { arguments: { a: 'x'.repeat(8 * MiB) } } }] })],
    ['with many objects in a field that is not read', { choices: [], prompt: list(100_000, {}) }],
    ['with a long input that is no call', { input: { a: 'x'.repeat(9 * MiB) }, choices: [] }],
  ])('%s', (_, body) => {
    expect(() => assertBoundedAnswer(body)).not.toThrow()
  })
})

describe('an answer is not read', () => {
  const long = 'x'.repeat(5 * MiB)
  test.each<[string, JsonObject, string]>([
    ['with too many parts', chat({ content: list(32_768, {}) }), 'more than 32768 objects and lists'],
    ['with too many lists', chat({ content: list(32_768, []) }), 'more than 32768 objects and lists'],
    [
      'with too long arguments of its calls together',
      { content: list(2, { type: 'tool_use', input: { a: [long] } }) },
      'too long arguments',
    ],
    [
      'with too long names of probabilities in arguments',
      { content: list(2, { type: 'tool_use', input: { probability: long } }) },
      'too long arguments',
    ],
    [
      'with too long encrypted reasoning',
      { output: { message: { content: list(2, { reasoningContent: { redactedContent: long } }) } } },
      'too long arguments',
    ],
  ])('%s', (_, body, message) => {
    expect(() => assertBoundedAnswer(body)).toThrow(message)
  })
})

const FULL = 32_700
const PIECE = 'a'.repeat(100)
const ESCAPES = '\n'.repeat(MiB)

/** Answers that took 60 to 340 ms to decode, and such as are just short enough to be decoded. */
test.each<[string, string, (scale: number) => JsonObject]>([
  ['bedrock-converse', 'bedrock', n => ({ output: { message: { content: list(n, { text: PIECE }) } } })],
  [
    'bedrock-converse',
    'bedrock',
    n => ({
      output: {
        message: { content: list(1, { reasoningContent: { redactedContent: 'QUJD'.repeat(n * 60) } }) },
      },
    }),
  ],
  [
    'openai-responses',
    'openai',
    n => ({
      // More pieces of reasoning than 2,048 are refused in another place.
      output: list(n < FULL ? 1_000 : n / 3, {
        ...{ type: 'reasoning', id: 'r', encrypted_content: 'x' },
        summary: [{ type: 'summary_text', text: PIECE }],
      }),
    }),
  ],
  [
    'ollama-chat',
    'ollama',
    n => ({ message: { tool_calls: list(n / 3, { function: { name: 'f', arguments: {} } }) } }),
  ],
  [
    'gemini-content',
    'gemini',
    n => ({ candidates: [{ content: { parts: list(n, { text: 'a', thoughtSignature: PIECE }) } }] }),
  ],
  [
    'anthropic-messages',
    'anthropic',
    n => ({ content: list(n / 4_000, { type: 'tool_use', id: 'a', name: 'f', input: { a: ESCAPES } }) }),
  ],
  ['openai-chat', 'openai', n => ({ choices: list(n / 2, { message: { content: 'a' } }) })],
])('an answer of %s is decoded or refused in little time', (format, provider, make) => {
  const client = FORMATS.map(({ client }) => client).find(each => each?.id === format) as ClientFormat
  const target = { ...{ provider: findProvider(provider) as Provider, model: 'm' }, baseUrl: '', apiKey: 'k' }
  const decode = (body: JsonObject): void => {
    assertBoundedAnswer(body)
    client.decodeReply(body, target)
  }
  const [long, tooLong] = [make(FULL - 10), make(FULL * 7)]
  expect(measureMs(() => decode(long))).toBeLessThan(60)
  expect(measureMs(() => expect(() => decode(tooLong)).toThrow('the answer has'))).toBeLessThan(60)
})
