import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findEmbeddingFormat } from '../embeddings/find-embedding-format.ts'
import { anthropicMessages } from '../formats/anthropic-messages/client/client.ts'
import { bedrockConverse } from '../formats/bedrock-converse/client/client.ts'
import { cohereV2 } from '../formats/cohere-v2/client/client.ts'
import { geminiContent } from '../formats/gemini-content/client/client.ts'
import { ollamaChat } from '../formats/ollama-chat/client/client.ts'
import { openAiChat } from '../formats/openai-chat/client/client.ts'
import { openAiResponses } from '../formats/openai-responses/client/client.ts'
import type { Json } from '../json/json-value.ts'
import { toObject } from '../json/json-value.ts'
import { custom } from '../providers/custom.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { ChatReply } from '../reply/chat-reply.ts'
import type { StreamEvent } from '../stream/stream-event.ts'
import type { Target } from '../upstream/target.ts'
import type { Usage } from '../usage/usage.ts'
import { addUp } from './add-up.ts'
import { type Break, breakJson } from './break-json.ts'
import { OWN_ANSWERS } from './own-answers.ts'
import { hasRecordings, listAnswers, listFiles, type RecordedFrame, readAnswer } from './recorded-answers.ts'

if (!hasRecordings) console.log('only own answers are broken: the recordings of ../shared/wire are not there')

const FORMATS = [
  openAiChat,
  openAiResponses,
  anthropicMessages,
  geminiContent,
  bedrockConverse,
  cohereV2,
  ollamaChat,
]
const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter']
const ERROR_KINDS =
  /^(?:rate_limited|overloaded|quota|auth|context_length|content_filter|model_not_found|bad_request|unavailable|timeout|interrupted)$/
const DAY_MS = 24 * 60 * 60 * 1000
const RUNS = { numRuns: 100 }
/** The most files of each format and mode: reading all of them takes longer than breaking them. */
const MAX_FILES = 25

const target: Target = { provider: custom, model: 'm', baseUrl: 'https://p.example/v1', apiKey: '' }

const breaks = fc.array(fc.record<Break>({ at: fc.nat(), how: fc.nat(1000) }), { minLength: 1, maxLength: 4 })

const OWN_REFUSAL = JSON.stringify({
  error: {
    message: 'Rate limit reached. Please try again in 1.5s.',
    type: 'rate_limit_error',
    code: 429,
    metadata: { raw: 'x' },
    details: [{ reason: 'QUOTA', retryDelay: '3s' }],
  },
})

const REFUSALS = [
  OWN_REFUSAL,
  '<html>502</html>',
  ...listFiles('')
    .filter(path => path.includes('__unary__'))
    .map(path => readAnswer(path, 'sse'))
    .filter(({ status }) => status >= 400)
    .map(({ text }) => text),
]

function sample(paths: readonly string[]): readonly string[] {
  const step = Math.max(1, Math.floor(paths.length / MAX_FILES))
  return paths.filter((_, at) => at % step === 0)
}

function holdUsage(usage: Usage | undefined): void {
  if (usage === undefined) return
  const { uncachedInput, cacheRead, cacheWrite, cacheWrite1h = 0, output, reasoning } = usage
  for (const bucket of [uncachedInput, cacheRead, cacheWrite, cacheWrite1h, output, reasoning]) {
    expect(Number.isSafeInteger(bucket) && bucket >= 0).toBe(true)
  }
}

/** `body`: what a model wrote as the text of its arguments is passed on, JSON or not. */
function holdArguments(text: string, body: string): void {
  try {
    JSON.parse(text)
  } catch {
    expect(body).toContain(JSON.stringify(text))
  }
}

function holdReply({ choices, usage }: ChatReply, body: string): void {
  holdUsage(usage)
  for (const { index, message, finishReason } of choices) {
    expect(Number.isSafeInteger(index) && index >= 0).toBe(true)
    expect(FINISH_REASONS).toContain(finishReason)
    expect(['string', 'object']).toContain(message.content === null ? 'object' : typeof message.content)
    expect(['string', 'undefined']).toContain(typeof message.reasoning)
    expect(['string', 'undefined']).toContain(typeof message.refusal)
    if (message.tool_calls !== undefined) expect(message.tool_calls.length).toBeGreaterThan(0)
    for (const call of message.tool_calls ?? []) {
      expect([typeof call.id, typeof call.function.name]).toEqual(['string', 'string'])
      expect(call.id === '' || call.function.name === '').toBe(false)
      holdArguments(call.function.arguments, body)
    }
  }
}

/** Decodes a stream like the gateway does: up to its end, or the first error. */
function decodeFrames(format: (typeof FORMATS)[number], frames: readonly RecordedFrame[]): StreamEvent[] {
  const decoder = format.openStream(target)
  const events: StreamEvent[] = []
  for (const { data, event } of frames) {
    for (const each of decoder.decode(data, event)) {
      events.push(each)
      if (each.type === 'end' || each.type === 'error') return events
    }
    holdUsage(decoder.partialUsage?.())
  }
  return events
}

function holdEvents(events: readonly StreamEvent[]): void {
  const choices = new Set<number>()
  for (const event of events) {
    if (event.type === 'usage') holdUsage(event.usage)
    if (event.type === 'error') expect(event.error.kind).toMatch(ERROR_KINDS)
    if (event.type !== 'delta') continue
    choices.add(event.index)
    expect(Number.isSafeInteger(event.index) && event.index >= 0).toBe(true)
    for (const text of [event.content, event.reasoning, event.refusal]) {
      expect(['string', 'undefined']).toContain(typeof text)
    }
    if (event.finishReason !== undefined) expect(FINISH_REASONS).toContain(event.finishReason)
  }
  // Throws where a call begins without id or name, or twice.
  for (const choice of choices)
    addUp(events.filter(event => event.type === 'delta' && event.index === choice))
}

/** Frames lost, doubled, swapped, torn, or of a kind that is yet to come; the rest is broken inside. */
function breakFrames(frames: readonly RecordedFrame[], changes: readonly Break[]): RecordedFrame[] {
  const broken = [...frames]
  for (const { at, how } of changes) {
    const place = at % Math.max(1, broken.length)
    const frame = broken[place]
    if (frame === undefined) break
    if (how % 8 === 0) broken.splice(place, 1)
    else if (how % 8 === 1) broken.splice(place, 0, frame)
    else if (how % 8 === 2) broken.splice(place, 2, ...broken.slice(place, place + 2).reverse())
    else if (how % 8 === 3) broken.length = place
    else if (how % 8 === 4) broken[place] = { ...frame, data: frame.data.slice(0, -1 - (how % 50)) }
    else if (how % 8 === 5) broken.splice(place, 0, { event: 'brand_new', data: '{"type":"brand_new"}' })
    else broken[place] = { ...frame, data: breakJson(frame.data, [{ at: at >> 3, how: how >> 3 }]) }
  }
  return broken
}

describe.each(FORMATS.map(format => [format.id, format] as const))('%s', (id, format) => {
  // Every format's own answer: a provider may also speak another format than it should.
  const plain = [
    ...Object.values(OWN_ANSWERS).map(own => JSON.stringify(own.plain)),
    ...sample(listAnswers(id, 'unary')).map(path => readAnswer(path, format.framing).text),
  ]
  const streamed = [
    ...Object.values(OWN_ANSWERS).map(own => own.frames),
    ...sample(listAnswers(id, 'stream')).map(path => readAnswer(path, format.framing).frames),
  ]

  test('returns the part of a broken answer that arrived, and never what it cannot be', () => {
    fc.assert(
      fc.property(fc.nat(), breaks, (at, changes) => {
        const text = breakJson(plain[at % plain.length] ?? '', changes)
        const body = toObject(parse(text))
        if (body !== undefined) holdReply(format.decodeReply(body, target), text)
      }),
      RUNS,
    )
  })

  test('so is a broken stream', () => {
    fc.assert(
      fc.property(fc.nat(), breaks, (at, changes) => {
        holdEvents(decodeFrames(format, breakFrames(streamed[at % streamed.length] ?? [], changes)))
      }),
      RUNS,
    )
  })

  test('an unbroken one passes the same checks, or they would check nothing', () => {
    const own = OWN_ANSWERS[id] as (typeof OWN_ANSWERS)[string]
    const text = JSON.stringify(own.plain)
    const reply = format.decodeReply(own.plain, target)
    holdReply(reply, text)
    expect(reply.choices[0]?.message.tool_calls).toHaveLength(1)
    expect(reply.usage).toBeDefined()
    const events = decodeFrames(format, own.frames)
    holdEvents(events)
    const sum = addUp(events)
    expect(sum.calls).toHaveLength(1)
    expect([sum.finishReason, sum.usage]).toEqual(['tool_calls', reply.usage])
  })

  test('any refusal has a cause and a wait that can be waited', () => {
    const header = fc.constantFrom(
      '',
      '0',
      '1',
      '-1',
      '1e99',
      'NaN',
      '1h2x',
      '9999-12-31T00:00:00Z',
      'Wed, 21 Oct 2099 07:28:00 GMT',
    )
    const headers = fc.dictionary(
      fc.constantFrom(
        'retry-after',
        'retry-after-ms',
        'date',
        'x-should-retry',
        'x-amzn-errortype',
        'anthropic-ratelimit-requests-remaining',
        'anthropic-ratelimit-requests-reset',
        'x-ratelimit-remaining-requests',
        'x-ratelimit-reset-requests',
      ),
      fc.oneof(header, fc.array(header, { maxLength: 2 })),
    )
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 300, max: 600 }),
        headers,
        breaks,
        (at, cut, status, given, changes) => {
          const text = breakJson(REFUSALS[at % REFUSALS.length] ?? '', changes)
          const error = format.decodeError(
            status,
            given,
            cut % 3 === 0 ? text.slice(0, cut % (text.length + 1)) : text,
          )
          expect(error.kind).toMatch(ERROR_KINDS)
          if (status >= 500)
            expect(error.kind).not.toMatch(/auth|context_length|content_filter|model_not_found|bad_request/)
          expect(typeof error.detail).toBe('string')
          const wait = error.retryAfterMs ?? 0
          expect(wait >= 0 && wait <= DAY_MS).toBe(true)
        },
      ),
      RUNS,
    )
  })
})

test('broken embeddings are whole vectors of numbers, or none', () => {
  const paths = hasRecordings ? [...listFiles('embeddings__'), ...listFiles('invoke-model__unary__')] : []
  const own =
    '{"data":[{"index":0,"embedding":[0.5,1]},{"index":1,"embedding":"AAAA"}],"usage":{"prompt_tokens":2}}'
  const formats = [...PROVIDERS.values()].filter(provider => provider.embeddings !== undefined)
  fc.assert(
    fc.property(fc.nat(), fc.nat(), breaks, (at, who, changes) => {
      const path = paths[at % (paths.length + 1)]
      const recording = path === undefined ? undefined : readAnswer(path, 'sse')
      const provider = recording?.provider ?? formats[who % formats.length] ?? custom
      const body = toObject(parse(breakJson(recording?.text ?? own, changes)))
      if (body === undefined) return
      const reply = findEmbeddingFormat(provider)?.decodeReply(body, {}, { ...target, provider })
      for (const vector of reply?.vectors ?? []) {
        const isVector = typeof vector === 'string' || (vector.length > 0 && vector.every(Number.isFinite))
        expect(isVector).toBe(true)
      }
      const tokens = reply?.inputTokens ?? 0
      expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true)
    }),
    RUNS,
  )
})

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
