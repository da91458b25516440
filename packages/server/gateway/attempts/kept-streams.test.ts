import { openStream as openMessages } from '@rideau/llm/formats/anthropic-messages/client/decode-stream'
import { MessageEncoder } from '@rideau/llm/formats/anthropic-messages/server/encode-stream'
import { openStream as openConverse } from '@rideau/llm/formats/bedrock-converse/client/decode-stream'
import { openStream as openContents } from '@rideau/llm/formats/gemini-content/client/decode-stream'
import { ContentEncoder } from '@rideau/llm/formats/gemini-content/server/encode-stream'
import { openStream as openChunks } from '@rideau/llm/formats/openai-chat/client/decode-stream'
import { openStream as openResponse } from '@rideau/llm/formats/openai-responses/client/decode-stream'
import { openEventEncoder } from '@rideau/llm/formats/openai-responses/server/encode-events'
import { responsesServer } from '@rideau/llm/formats/openai-responses/server/server'
import type { ReplyContext } from '@rideau/llm/formats/shared/server-format'
import { encodeAwsEvent } from '@rideau/llm/frames/aws-event-frame'
import type { Frame } from '@rideau/llm/frames/open-frames'
import { gemini } from '@rideau/llm/providers/gemini'
import { openai } from '@rideau/llm/providers/openai'
import type { StreamDecoder, StreamEvent } from '@rideau/llm/stream/stream-event'
import { collectGarbage } from '@rideau/llm/testing/collect-garbage'
import type { Target } from '@rideau/llm/upstream/target'
import { expect, test } from 'vitest'
import { StreamReader } from './stream-reader.ts'

/** What streams keep in memory that a provider makes as large as it can, beside what is counted of it. */

const MiB = 1024 * 1024
const PIECES = 100_000
const AT_ONCE = 100

const target = { provider: openai, model: 'm', baseUrl: 'https://x', apiKey: '' } as Target
const ENVELOPE = { id: 'a', created: 0, model: 'm' }
const HEAD = {
  ...ENVELOPE,
  echo: {
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto' as const,
    tools: [],
    top_p: null,
  },
  calledTools: new Map(),
}

const sse = (value: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
const choice = (delta: object): Buffer => sse({ id: 'a', choices: [{ index: 0, delta }] })
const call = (index: number, fn: object, id?: string) => ({ index, id, type: 'function', function: fn })
const block = (delta: object): Buffer => sse({ type: 'content_block_delta', index: 0, delta })
const begin = (index: number, start: object): Buffer =>
  sse({ type: 'content_block_start', index, content_block: start })
const item = (what: 'added' | 'done', index: number, value: object): Buffer =>
  sse({ type: `response.output_item.${what}`, output_index: index, item: value })
const parts = (...list: object[]): Buffer => sse({ candidates: [{ content: { parts: list } }] })

interface Encoding {
  encode(events: readonly StreamEvent[], frame: Frame): unknown
  readonly kept?: number
}

function toResponses(): Encoding {
  const encoder = openEventEncoder(HEAD)
  return {
    encode: events => {
      for (const event of events) if (event.type === 'delta') encoder.add(event)
    },
  }
}

function toContents(): Encoding {
  const encoder = new ContentEncoder(ENVELOPE, { thoughts: true })
  return { encode: events => events.map(event => encoder.encode(event)) }
}

function toMessages(): Encoding {
  const encoder = new MessageEncoder(ENVELOPE)
  return { encode: events => events.map(event => encoder.encode(event)) }
}

/** What passes from a provider of the Responses format to its own route. A limit may cut it. */
const toPassedResponses = (): Encoding =>
  responsesServer.openStream({ format: 'openai-responses' } as ReplyContext, true)

const toNothing = (): Encoding => ({ encode: () => {} })

interface Stream {
  readonly open: () => StreamDecoder
  readonly encode?: () => Encoding
  readonly first?: Buffer
  readonly frame: (n: number) => Buffer
  readonly frames?: number
  readonly isAws?: true
}

const many = <T>(n: number, make: (at: number) => T): T[] =>
  Array.from({ length: AT_ONCE }, (_, at) => make(n * AT_ONCE + at))

const longText = (n: number): string => `${n}`.padEnd(900_000, 'a')

const STREAMS: Readonly<Record<string, Stream>> = {
  'texts of single characters for the Responses route': {
    open: () => openChunks(target),
    encode: toResponses,
    frame: () => choice({ content: 'a' }),
    frames: PIECES,
  },
  'reasoning of single characters for the Responses route': {
    open: () => openChunks(target),
    encode: toResponses,
    frame: () => choice({ reasoning: 'a' }),
    frames: PIECES,
  },
  'arguments of single characters for the Responses route': {
    open: () => openChunks(target),
    encode: toResponses,
    first: choice({ tool_calls: [call(0, { name: 'f', arguments: '' }, 'c')] }),
    frame: n => choice({ tool_calls: many(n, () => call(0, { arguments: 'a' })) }),
  },
  "arguments of single characters for Gemini's route": {
    open: () => openChunks(target),
    encode: toContents,
    first: choice({ tool_calls: [call(0, { name: 'f', arguments: '' }, 'c')] }),
    frame: n => choice({ tool_calls: many(n, () => call(0, { arguments: 'a' })) }),
  },
  "arguments that wait for another call on Anthropic's route": {
    open: () => openChunks(target),
    encode: toMessages,
    first: choice({
      tool_calls: [call(0, { name: 'f', arguments: '{' }, 'c'), call(1, { name: 'f', arguments: '' }, 'd')],
    }),
    frame: n => choice({ tool_calls: many(n, () => call(1, { arguments: 'a' })) }),
  },
  'arguments of a call without a name': {
    open: () => openChunks(target),
    frame: n => choice({ tool_calls: many(n, () => call(0, { arguments: 'a' })) }),
  },
  'details of reasoning in single characters': {
    open: () => openChunks(target),
    frame: n =>
      choice({
        reasoning: 'a',
        reasoning_details: many(n, () => ({ type: 'reasoning.text', index: 0, text: 'a' })),
      }),
  },
  'thinking of single characters': {
    open: () => openMessages(target),
    first: begin(0, { type: 'thinking', thinking: '' }),
    frame: () => block({ type: 'thinking_delta', thinking: 'a' }),
    frames: PIECES,
  },
  'signatures of single characters': {
    open: () => openMessages(target),
    first: begin(0, { type: 'thinking', thinking: '' }),
    frame: () => block({ type: 'signature_delta', signature: 'a' }),
    frames: PIECES,
  },
  'blocks that do not end': {
    open: () => openMessages(target),
    frame: n => begin(n, { type: 'text', text: 'a', more: Array(500).fill([]) }),
    frames: 5_000,
  },
  'reasoning of single characters by Converse': {
    open: openConverse,
    isAws: true,
    frame: n =>
      Buffer.from(
        encodeAwsEvent('contentBlockDelta', {
          contentBlockIndex: n % 2,
          delta: { reasoningContent: { text: 'a', signature: 'a', redactedContent: 'YWFh' } },
        }),
      ),
    frames: PIECES / 4,
  },
  'arguments in pieces by Gemini': {
    open: () => openContents({ ...target, provider: gemini }),
    first: parts({ functionCall: { name: 'f', willContinue: true } }),
    frame: n =>
      parts({
        functionCall: {
          willContinue: true,
          partialArgs: many(n, at => ({ jsonPath: `$.a${at}.b`, numberValue: 1 })),
        },
      }),
    frames: PIECES / AT_ONCE / 3,
  },
  'search queries by Gemini': {
    open: () => openContents({ ...target, provider: gemini }),
    frame: n =>
      sse({ candidates: [{ groundingMetadata: { webSearchQueries: many(n, at => `query ${at}`) } }] }),
  },
  'searches of items by Responses': {
    open: () => openResponse(target),
    frame: n =>
      sse({ type: 'response.output_item.added', item_id: `${n}`, item: { type: 'web_search_call' } }),
    frames: PIECES / 2,
  },
  'texts of many items by Responses': {
    open: () => openResponse(target),
    frame: n => sse({ type: 'response.output_text.delta', output_index: n, delta: 'a' }),
    frames: PIECES / 2,
  },
  'a text of long pieces by Responses': {
    open: () => openResponse(target),
    frame: () => sse({ type: 'response.output_text.delta', output_index: 0, delta: 'a'.repeat(10_000) }),
    frames: 1_500,
  },
  'reasoning with long ids by Responses for the Responses route': {
    open: () => openResponse(target),
    encode: toResponses,
    frame: n => item('done', n, { type: 'reasoning', id: longText(n), encrypted_content: 'a' }),
    frames: 4,
  },
  'details of reasoning with long formats': {
    open: () => openChunks(target),
    frame: n =>
      choice({ reasoning_details: [{ type: 'reasoning.text', index: n, format: longText(n), text: 'a' }] }),
    frames: 15,
  },
  "details of reasoning with long formats for Gemini's route": {
    open: () => openChunks(target),
    encode: toContents,
    frame: n =>
      choice({
        content: 'a',
        reasoning_details: [{ type: 'reasoning.text', index: n, format: longText(n), text: 'a' }],
      }),
    frames: 4,
  },
  'long ids of the chunks of many choices': {
    open: () => openChunks(target),
    frame: n => sse({ id: longText(n), choices: [{ index: n, delta: { content: 'a' } }] }),
    frames: 15,
  },
  'usage of long lists by Anthropic': {
    open: () => openMessages(target),
    frame: () => {
      const [counts, numbers] = [{ input_tokens: 1 }, Array(120_000).fill(1.5)]
      const usage = { ...counts, cache_creation: { numbers }, iterations: [{ type: 'compaction', numbers }] }
      return sse({ type: 'message_start', message: { usage } })
    },
    frames: 1,
  },
  'ended items of empty lists that pass to the Responses route': {
    open: () => openResponse(target),
    encode: toPassedResponses,
    frame: n => item('done', n, { type: 'x', lists: Array(18_000).fill([]) }),
    frames: 18,
  },
  'ended images that pass to the Responses route': {
    open: () => openResponse(target),
    encode: toPassedResponses,
    frame: n => item('done', n, { type: 'image_generation_call', result: 'A'.repeat(900_000) }),
    frames: 1,
  },
  'short items that pass to the Responses route': {
    open: () => openResponse(target),
    encode: toPassedResponses,
    frame: n => item('done', n, { type: 'x' }),
    frames: 4_000,
  },
  'a message that has begun with empty objects and passes to the Responses route': {
    open: () => openResponse(target),
    encode: toPassedResponses,
    frame: n => item('added', n, { type: 'message', id: 'm', objects: Array(30_000).fill({}) }),
    frames: 1,
  },
  'the id of a response that passes to its route': {
    open: () => openResponse(target),
    encode: toPassedResponses,
    first: Buffer.concat([
      sse({ type: 'response.created', response: { id: 'resp_0123456789' } }),
      Buffer.from(`: ${' '.repeat(1_000)}\n\n`.repeat(4_000)),
    ]),
    frame: () => sse({ type: 'response.in_progress' }),
    frames: 1,
  },
  'an event that does not end': {
    open: () => openChunks(target),
    first: choice({ content: 'a' }),
    frame: () => Buffer.from(`data: ${' '.repeat(1_000)}`),
    frames: 1_000,
  },
}

test.each(Object.entries(STREAMS))('%s take no more memory than is counted', (_, stream) => {
  const { open, encode = toNothing, first, frame, frames = PIECES / AT_ONCE } = stream
  collectGarbage()
  const before = process.memoryUsage()
  const encoding = encode()
  const reader = new StreamReader(stream.isAws === true ? 'aws-event-stream' : 'sse', open(), {
    onFrame: (events, frame) => encoding.encode(events, frame),
  })
  if (first !== undefined) reader.push(first)
  for (let n = 0; n < frames; n++) reader.push(frame(n))
  // V8 keeps the last text in which a regular expression was found.
  expect(/a/.test('a')).toBe(true)
  collectGarbage()
  const after = process.memoryUsage()
  const grown = after.heapUsed + after.external - before.heapUsed - before.external
  expect(grown).toBeLessThan(MiB + 2 * (reader.kept + (encoding.kept ?? 0)))
})

test('an answer has no more calls without a name than other calls', () => {
  const decoder = openChunks(target)
  const unnamed = (from: number): string =>
    JSON.stringify({ id: 'a', choices: [{ delta: { tool_calls: many(from, at => ({ index: at })) } }] })
  for (let n = 0; n < 5; n++) expect(decoder.decode(unnamed(n))).toEqual([])
  expect(() => decoder.decode(unnamed(5))).toThrow('more than 512 tool calls')
})

const signed = { text: '', thoughtSignature: 'a' }
const SIGNED_STREAMS: Readonly<Record<string, Stream>> = {
  Gemini: {
    open: () => openContents({ ...target, provider: gemini }),
    frame: () => parts(...Array(64).fill(signed)),
  },
  Responses: {
    open: () => openResponse(target),
    frame: n =>
      sse({
        type: 'response.output_item.done',
        output_index: n,
        item: { type: 'reasoning', summary: Array(63).fill({ text: 'a' }), encrypted_content: 'a' },
      }),
  },
  Converse: {
    open: openConverse,
    isAws: true,
    frame: n => {
      const frames = Array.from({ length: 64 }, (_, at) => {
        const contentBlockIndex = n * 64 + at
        const delta = { reasoningContent: { signature: 'a' } }
        return [
          encodeAwsEvent('contentBlockDelta', { contentBlockIndex, delta }),
          encodeAwsEvent('contentBlockStop', { contentBlockIndex }),
        ]
      })
      return Buffer.concat(frames.flat())
    },
  },
  'an aggregator, over all choices': {
    open: () => openChunks(target),
    frame: n => {
      const [index, content] = [n % 2, 'a']
      const reasoning_details = Array.from({ length: 64 }, (_, at) => ({
        type: 'reasoning.encrypted',
        index: n * 64 + at,
        data: 'a',
      }))
      return sse({ id: 'a', choices: [{ index, delta: { content, reasoning_details } }] })
    },
  },
}

test.each(Object.entries(SIGNED_STREAMS))(
  'a stream of %s has at most 2,048 details of reasoning',
  (_, { open, isAws, frame }) => {
    let details = 0
    const framing = isAws === true ? 'aws-event-stream' : 'sse'
    const reader = new StreamReader(framing, open(), {
      onFrame: events => {
        for (const event of events) if (event.type === 'delta') details += event.reasoningDetails?.length ?? 0
      },
    })
    for (let n = 0; n < 32; n++) reader.push(frame(n))
    expect(details).toBe(2_048)
    expect(() => reader.push(frame(32))).toThrow('more than 2048 pieces of reasoning')
  },
)
