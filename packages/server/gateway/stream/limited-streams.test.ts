import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { toStreamRequest } from '../../testing/harness/format-requests.ts'
import type { ProviderAnswer } from '../../testing/harness/provider-answer.ts'
import { PROVIDER_ANSWERS } from '../../testing/harness/provider-answers.ts'
import { SERVED_STREAMS, type ServedAnswer } from '../../testing/harness/served-answers.ts'

/** Streams that reach a limit of tokens: the gateway ends them, as an answer of the format that was cut. */

const LIMIT = 3_000
const TEXT = 'one two three four five '
const TEXTS = Array.from({ length: 4_000 }, () => TEXT)
/** A model of each format that does not reason: its stream may be ended anywhere. */
const MODELS: Readonly<Record<string, string>> = {
  'openai-chat': 'groq/llama-3.3-70b-versatile',
  'openai-responses': 'openai/gpt-4.1',
  'anthropic-messages': 'anthropic/claude-3-haiku-20240307',
  'gemini-content': 'gemini/gemma-3-27b-it',
  'bedrock-converse': 'bedrock/us.amazon.nova-lite-v1:0',
  'cohere-v2': 'cohere/command-a-03-2025',
  'ollama-chat': 'ollama/plain',
}

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
  const made = await harness.app.manage(
    'POST',
    `/v1/environments/${harness.app.developmentId}/custom-models`,
    {
      model: MODELS['ollama-chat'],
      capabilities: ['chat', 'tools'],
      context_window: 100_000,
      max_output_tokens: 10_000,
      pricing: null,
    },
  )
  if (made.status !== 201) throw new Error(`no custom model: ${made.status}`)
})

afterAll(async () => {
  await harness.close()
})

/** Bytes of the same format pass undecoded where the environment's log captures metadata only. */
const CAPTURES = ['full', 'metadata'] as const

test.each(
  Object.keys(SERVED_STREAMS).flatMap(surface =>
    [...new Set(['openai-chat', surface])]
      .filter(format => format in MODELS)
      .flatMap(format => CAPTURES.map(capture => [surface, format, capture] as const))
      .filter(([, format, capture]) => format === surface || capture === 'full'),
  ),
)(
  'a caller of %s gets what its limit allows from a provider of %s, and an end (%s)',
  async (surface, format, capture) => {
    const { app, upstream } = harness
    const environment = `/v1/environments/${app.developmentId}`
    expect((await app.manage('PATCH', environment, { log_capture: capture })).status).toBe(200)
    const { id, key } = await app.createKey({})
    const limit = { scope: 'key', scope_ref: id, metric: 'tokens', limit: LIMIT, window_seconds: 3600 }
    const made = await app.manage('POST', `${environment}/limits`, limit)
    expect(made.status).toBe(201)
    const { contentType, frames } = PROVIDER_ANSWERS[format]?.({
      texts: TEXTS,
      finish: 'stop',
    }) as ProviderAnswer
    upstream.script(res => {
      res.writeHead(200, { 'content-type': contentType })
      for (const { bytes } of frames) res.write(bytes)
      res.end()
    })
    const { route, body } = toStreamRequest(surface, MODELS[format] ?? '')
    const text = JSON.stringify(body).replace(':64', ':8192')
    const response = await app.call(route, text, { key })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([response.status, bytes.toString('utf8').slice(0, 200)]).toEqual([200, expect.any(String)])
    const served = (SERVED_STREAMS[surface] as (bytes: Buffer) => ServedAnswer)(bytes)
    expect(served.code).toBeUndefined()
    expect(served.finish).toMatch(/length|max_tokens|max_output_tokens/i)
    expect(served.text.length).toBeGreaterThan(100)
    expect(TEXTS.join('').startsWith(served.text)).toBe(true)
    // Of events that pass undecoded each counts as one token.
    expect(served.text.length).toBeLessThan(LIMIT * (capture === 'full' ? 6 : TEXT.length))
  },
)
