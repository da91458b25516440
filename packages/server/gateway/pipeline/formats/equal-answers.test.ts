import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '../../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../../testing/harness/format-harness.ts'
import {
  FORMAT_REQUESTS,
  toFormatRequest,
  toStreamRequest,
} from '../../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../../testing/harness/format-targets.ts'
import type { ModelAnswer, ProviderAnswer } from '../../../testing/harness/provider-answer.ts'
import { PROVIDER_ANSWERS } from '../../../testing/harness/provider-answers.ts'
import { SERVED_REPLIES, SERVED_STREAMS, type ServedAnswer } from '../../../testing/harness/served-answers.ts'

/** An answer says the same plain and as a stream, to callers of each format from providers of each. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const CALLS = [
  { id: 'call_1', name: 'usual_tool', pieces: ['{"n":', '1}'] },
  { id: 'call_2', name: 'usual_tool', pieces: ['{"n":', '2,"t":"é😀"', '}'] },
  { id: 'call_3', name: 'usual_tool', pieces: ['{}'] },
]
const ANSWERS: readonly (readonly [what: string, answer: ModelAnswer])[] = [
  ['three parallel calls', { texts: ['I ', 'look.'], calls: CALLS, finish: 'tool_calls' }],
  ['a refusal', { texts: ['I ', 'refuse.'], finish: 'refusal' }],
  ['an answer that reached its maximum', { texts: ['Too ', 'lon'], finish: 'length' }],
]

/** How each format says why an answer ended: after calls, after a refusal, at its maximum. */
const REASONS: Readonly<Record<string, Readonly<Record<ModelAnswer['finish'], string>>>> = {
  native: { tool_calls: 'tool_calls', refusal: 'content_filter', length: 'length', stop: 'stop' },
  'openai-chat': { tool_calls: 'tool_calls', refusal: 'content_filter', length: 'length', stop: 'stop' },
  'openai-responses': {
    tool_calls: 'completed',
    refusal: 'content_filter',
    length: 'max_output_tokens',
    stop: 'completed',
  },
  'anthropic-messages': {
    tool_calls: 'tool_use',
    refusal: 'refusal',
    length: 'max_tokens',
    stop: 'end_turn',
  },
  'gemini-content': { tool_calls: 'STOP', refusal: 'SAFETY', length: 'MAX_TOKENS', stop: 'STOP' },
  'bedrock-converse': {
    tool_calls: 'tool_use',
    refusal: 'content_filtered',
    length: 'max_tokens',
    stop: 'end_turn',
  },
  'cohere-v2': { tool_calls: 'TOOL_CALL', refusal: 'ERROR_TOXIC', length: 'MAX_TOKENS', stop: 'COMPLETE' },
  'ollama-chat': { tool_calls: 'stop', refusal: 'stop', length: 'length', stop: 'stop' },
}
/** Providers of these formats refuse in the text of an answer that ends as every other. */
const REFUSES_IN_TEXT: ReadonlySet<string> = new Set(['openai-responses', 'ollama-chat'])

async function ask(
  surface: string,
  format: string,
  answer: ModelAnswer,
): Promise<[ServedAnswer, ServedAnswer]> {
  const { app, upstream } = harness
  const { plain, contentType, frames } = PROVIDER_ANSWERS[format]?.(answer) as ProviderAnswer
  const model = FORMAT_TARGETS[format]?.[0] ?? ''
  upstream.script(json(200, plain), res => {
    res.writeHead(200, { 'content-type': contentType })
    res.end(Buffer.concat(frames.map(({ bytes }) => bytes)))
  })
  const asked = toFormatRequest(surface, model, FORMAT_REQUESTS[surface]?.tools)
  const reply = await app.call(asked.route, asked.body)
  const body = await reply.json()
  const streamed = toStreamRequest(surface, model)
  const response = await app.call(streamed.route, streamed.body)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect([reply.status, response.status]).toEqual([200, 200])
  const read = SERVED_STREAMS[surface] as (bytes: Buffer) => ServedAnswer
  return [SERVED_REPLIES[surface]?.(body) as ServedAnswer, read(bytes)]
}

const parseAll = ({ calls }: ServedAnswer): unknown[] => calls.map(([name, text]) => [name, JSON.parse(text)])

describe.each(Object.keys(FORMAT_REQUESTS))('a caller of %s', surface => {
  describe.each(Object.keys(PROVIDER_ANSWERS))('gets from a provider of %s', format => {
    test.each(ANSWERS)('%s', async (_, answer) => {
      const [plain, streamed] = await ask(surface, format, answer)
      const finish = answer.finish === 'refusal' && REFUSES_IN_TEXT.has(format) ? 'stop' : answer.finish
      const said = {
        text: answer.texts.join(''),
        calls: (answer.calls ?? []).map(({ name, pieces }) => [name, JSON.parse(pieces.join(''))]),
        finish: REASONS[surface]?.[finish],
      }
      for (const each of [plain, streamed])
        expect({ text: each.text, calls: parseAll(each), finish: each.finish }).toEqual(said)
    })
  })
})
