import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  chunk,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  type UpstreamAnswer,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Streams whose choice ends with an error. What was generated is charged, and its usage comes later. */
let app: TestApp
let failing: ScriptedUpstream
let healthy: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  failing = await openScriptedUpstream()
  healthy = await openScriptedUpstream()
  await app.addCredential('groq', { api_key: 'sk-failing', base_url: failing.baseUrl })
  await app.addCredential('gemini', { api_key: 'AIza-failing', base_url: failing.baseUrl })
  await app.addCredential('custom-b', { api_key: 'sk-healthy', base_url: healthy.baseUrl })
  healthy.script(streamedCompletion('Hello'))
})
afterAll(async () => {
  await failing.close()
  await healthy.close()
  await app.close()
})

const MODEL = 'groq/llama-3.3-70b-versatile'
const begun = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'First words, ' })]
const failed = chunk({ content: 'last words' }, 'error')
const counted = usageChunk({ prompt_tokens: 9, completion_tokens: 5_000, total_tokens: 5_009 })

/** A stream that the provider never ends after these events. */
function endless(...frames: string[]): UpstreamAnswer {
  return res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const each of frames) res.write(each)
  }
}

async function ask(route: string, model = MODEL) {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const response = await app.call(route, { model, messages, stream: true, max_tokens: 10_000 })
  const text = await response.text()
  return { text, log: await app.findLog(response.headers.get('x-request-id') ?? '') }
}

let made = 0
async function createFallback(): Promise<string> {
  const targets = [{ model: MODEL, max_retries: 0 }, { model: 'custom-b/large' }]
  const body = { alias: `either-${made++}`, strategy: 'priority', targets }
  const answer = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return body.alias
}

test.each(['/v1/chat', '/openai/v1/chat/completions', '/anthropic/v1/messages'])(
  'a caller of %s gets the text beside the error, then the error, and is billed the usage that follows',
  async route => {
    failing.script(stream(...begun, failed, counted, DONE))
    const { text, log } = await ask(route)
    expect(text).toContain('First words, ')
    expect(text.indexOf('last words')).toBeLessThan(text.indexOf('stream_interrupted'))
    expect(text).toContain('last words')
    expect(text).not.toContain('"finish_reason":"error"')
    expect(log).toMatchObject({
      error_code: 'stream_interrupted',
      usage_estimated: false,
      usage: { input_tokens: 9, output_tokens: 5_000 },
    })
  },
)

test('a prompt of completions gets the text beside the error', async () => {
  const choice = (text: string, reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, text, finish_reason: reason }] })}\n\n`
  healthy.script(stream(choice('First words, ', null), choice('last words', 'error'), DONE))
  const body = { model: 'custom-b/large', prompt: 'Say hello.', stream: true }
  const text = await (await app.call('/openai/v1/completions', body)).text()
  healthy.script(streamedCompletion('Hello'))
  expect(text).toContain('last words')
  expect(text).toContain('stream_interrupted')
  expect(text).not.toContain('"finish_reason":"error"')
})

test('a provider that keeps the stream open after the error ends neither its answer nor the fallback late', async () => {
  failing.script(endless(...begun, failed))
  expect((await ask('/v1/chat')).text).toContain('stream_interrupted')
  failing.script(endless(failed))
  expect((await ask('/v1/chat', await createFallback())).text).toContain('Hello')
  // Both waits last a second; one silent stream otherwise lasts for longer than a test may.
})

test('an error in the first chunk with text falls back, and the failed attempt is billed the usage that follows', async () => {
  failing.script(stream(failed, counted, DONE))
  const { text, log } = await ask('/v1/chat', await createFallback())
  expect(text).toContain('Hello')
  expect(text).not.toContain('last words')
  expect(log).toMatchObject({ provider: 'custom-b', usage: { output_tokens: 5_003 } })
})

test('a call without another target is billed the usage after an error before the first text', async () => {
  failing.script(stream(failed, counted))
  const { log } = await ask('/v1/chat')
  expect(log.status).toBeGreaterThan(499)
  expect(log.usage.output_tokens).toBeGreaterThanOrEqual(5_000)
  expect(log.cost_usd).toBeGreaterThan(0)
})

const GEMINI = 'gemini/gemini-3-flash-preview'
const candidate = (text: string, output: number | undefined, finishReason?: string): string => {
  const usageMetadata =
    output === undefined
      ? undefined
      : { promptTokenCount: 9, candidatesTokenCount: output, totalTokenCount: 9 + output }
  const candidates = [{ content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }]
  return `data: ${JSON.stringify({ candidates, usageMetadata })}\r\n\r\n`
}

test.each([
  ['in its chunk', [candidate('last words', 5_000, 'MALFORMED_FUNCTION_CALL')]],
  ['that follows', [candidate('last words', undefined, 'MALFORMED_FUNCTION_CALL'), candidate('', 5_000)]],
])(
  'a call of Gemini that fails gives the text beside it, then the error, and is billed the usage %s',
  async (_, last) => {
    const messages = [{ role: 'user', content: 'Say hello.' }]
    const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]
    const calls: [string, object][] = [
      ['/v1/chat', { model: GEMINI, messages, stream: true }],
      ['/openai/v1/chat/completions', { model: GEMINI, messages, stream: true }],
      [`/gemini/v1beta/models/${GEMINI}:streamGenerateContent?alt=sse`, { contents }],
    ]
    for (const [route, body] of calls) {
      failing.script(stream(candidate('First words, ', 2), ...last))
      const response = await app.call(route, body)
      const text = await response.text()
      expect(text).toContain('First words, ')
      expect(text).toContain('last words')
      expect(text.indexOf('last words')).toBeLessThan(text.indexOf('stream_interrupted'))
      expect(text).not.toMatch(/finish_?reason":"(?:MALFORMED|stop)/i)
      expect(await app.findLog(response.headers.get('x-request-id') ?? '')).toMatchObject({
        error_code: 'stream_interrupted',
        usage_estimated: false,
        usage: { input_tokens: 9, output_tokens: 5_000 },
      })
    }
  },
)
