import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toArray } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { normalizeContent } from '../../../testing/gemini-bodies.ts'
import { JUSTIFIED } from '../../../testing/justified/gemini-served.ts'
import { listAnswers, readAnswer } from '../../../testing/recorded-answers.ts'
import {
  hasRecordings,
  listRecordedRequests,
  type RecordedRequest,
  toSourceBody,
} from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { geminiContent } from '../client/client.ts'
import { encodeReply } from '../wire/encode-reply.ts'
import { spellCamel } from '../wire/spell-camel.ts'
import { ContentEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

if (!hasRecordings)
  console.log('skipped: the recordings of ../shared/wire are not there (Gemini’s format, served)')

const ENVELOPE = { id: 'r1', created: 0, model: 'p/m' }
const SHOWN = { thoughts: true }
const NO_USAGE = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

const toTarget = (provider: Provider | undefined, model: string): Target => {
  if (provider === undefined) throw new Error('a recording of an unknown provider')
  return {
    provider,
    model: model === '' ? 'gemini-2.5-flash' : model,
    baseUrl: 'https://a.example/v1',
    apiKey: '',
  }
}
const spell = (body: JsonObject): JsonObject => {
  const spelled = spellCamel(structuredClone(body))
  if (!('body' in spelled)) throw new Error(JSON.stringify(spelled))
  return JSON.parse(JSON.stringify(spelled.body))
}

/** The body without requests for images, speech and a filter, which are refused because they have prices of their own. */
function withoutPriced(body: JsonObject): JsonObject {
  const { generationConfig: config, modelArmorConfig: _filter, ...rest } = body
  if (config === undefined) return rest
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return body
  const { responseModalities: kinds, speechConfig: _speech, ...kept } = config
  const isText = toArray(kinds).every(kind => kind === 'TEXT')
  const spoken = isText && kinds !== undefined ? { responseModalities: kinds } : {}
  return { ...rest, generationConfig: { ...kept, ...spoken } }
}

describe.skipIf(!hasRecordings)('a recorded request, parsed and encoded again', () => {
  const of = (provider: string): RecordedRequest[] => listRecordedRequests(provider, 'generateContent')
  const taken = [...of('gemini'), ...of('vertex')].filter(({ status }) => status === 200)
  const justified = openJustifications(JUSTIFIED)

  test('all recordings are found', () => {
    expect(taken.length).toBe(243)
  })

  test.each(taken.map(recorded => [recorded.name, recorded] as const))('%s', (name, recorded) => {
    const given = withoutPriced(recorded.body)
    const body = spell(given)
    const source = toSourceBody('gemini-content', given)
    const context = { source, pathModel: recorded.model, isEndUser: false }
    const { request: asked } = parseRequest(given, context, recorded.isStream)
    const target = toTarget(findProvider(recorded.provider), recorded.model)
    // Translated by way of the canonical request. This format itself shows best what is lost.
    const sent = JSON.parse(geminiContent.encodeRequest(asked, target, undefined).body.toString())
    const differences = findDifferences(normalizeContent(sent), normalizeContent(structuredClone(body)))
    expect(justified.unexplained(name, differences)).toEqual([])
    // Passed through to the same format.
    const passed = JSON.parse(geminiContent.encodeRequest(asked, target, source).body.toString())
    const { model: _, ...whole } = body
    expect(justified.unexplained(`passed ${name}`, findDifferences(passed, whole))).toEqual([])
  })

  test('every justification is needed', () => {
    expect(justified.unused()).toEqual([])
  })
})

/** Without ids that are made anew, and without searches, which another provider's answer does not tell of. */
const withoutIds = (reply: ChatReply): ChatReply => {
  const text = JSON.stringify({ ...reply, usage: { ...reply.usage, hosted: undefined } }).replaceAll(
    /"call_[0-9a-f]{24}(?:__rd1__[\w-]+)?"/g,
    '"call"',
  )
  return JSON.parse(text)
}

const listSuccesses = (mode: 'unary' | 'stream'): string[] =>
  listAnswers('gemini-content', mode).filter(path => readAnswer(path, 'sse').status === 200)

describe.skipIf(!hasRecordings)('a recorded answer, encoded for a caller of this format', () => {
  test.each(listSuccesses('unary'))('%s', path => {
    const { json, provider } = readAnswer(path, 'sse')
    const target = toTarget(provider, '')
    const reply = geminiContent.decodeReply([json].flat()[0] as JsonObject, target)
    const again = geminiContent.decodeReply(encodeReply(reply, ENVELOPE, SHOWN), target)
    expect(withoutIds(again)).toEqual(withoutIds(reply))
  })

  test.each(listSuccesses('stream'))('%s', path => {
    const { frames, provider } = readAnswer(path, 'sse')
    const target = toTarget(provider, '')
    const decode = (chunks: readonly string[]): StreamEvent[] => {
      const decoder = geminiContent.openStream(target)
      return chunks.flatMap(data => decoder.decode(data))
    }
    const events = decode(frames.map(({ data }) => data))
    const said = addUp(events.filter(event => event.type !== 'delta' || event.index === 0))
    if (said.error !== undefined || said.finishReason === undefined) return
    const encoder = new ContentEncoder(ENVELOPE, SHOWN)
    const chunks = [
      ...events.flatMap(event => encoder.encode(event)),
      encoder.finish(said.finishReason, said.usage ?? NO_USAGE),
    ]
    const heard = addUp(decode(chunks.map(chunk => JSON.stringify(chunk))))
    expect(withoutIds({ ...heard, error: undefined } as never)).toEqual(
      withoutIds({ ...said, usage: said.usage ?? NO_USAGE, error: undefined } as never),
    )
  })
})
