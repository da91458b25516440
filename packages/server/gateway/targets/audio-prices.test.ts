import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Audio input is billed at its own price, and refused if that price is unknown. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['gemini', 'alibaba']) {
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const audioPart = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is said?' }, audioPart] }]

test.each(['/v1/chat', '/openai/v1/chat/completions'])(
  "%s: bills Gemini's audio tokens at the audio price",
  async route => {
    upstream.script(
      json(200, {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 1000,
          cachedContentTokenCount: 100,
          candidatesTokenCount: 10,
          totalTokenCount: 1010,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 200 },
            { modality: 'AUDIO', tokenCount: 800 },
          ],
          cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 100 }],
        },
      }),
    )
    const response = await app.call(route, { model: 'gemini/gemini-2.5-flash', messages })
    expect(response.status).toBe(200)
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    // USD per million: text 0.3, audio 1, cached 0.03, output 2.5.
    expect(log.cost_usd).toBeCloseTo((200 * 0.3 + 700 * 1 + 100 * 0.03 + 10 * 2.5) / 1e6, 9)
  },
)

test('refuses audio for a model without an audio price by name, and accepts its text', async () => {
  upstream.script(completion('x'))
  const before = upstream.requests.length
  const model = 'alibaba/qwen3.5-27b'
  const response = await app.call('/v1/chat', { model, messages })
  expect(await response.json()).toMatchObject({
    error: { code: 'invalid_request', param: 'messages[0].content[1]' },
  })
  expect(upstream.requests.length).toBe(before)
  expect((await app.call('/v1/chat', { model, messages: [{ role: 'user', content: 'x' }] })).status).toBe(200)
})

const file = (fields: object): object => ({ type: 'file', file: fields })
const url = (type: string): string => `data:${type};base64,AAAA`

test.each([
  ['a file of audio', file({ file_data: url('audio/wav') })],
  ['a video', file({ file_data: url('VIDEO/mp4') })],
  ['audio in the place of an image', { type: 'image_url', image_url: { url: url('audio/mpeg') } }],
  ['a file by its address', file({ file_url: 'https://a/b' })],
  ['a part of another kind', { type: 'video_url', video_url: { url: url('video/mp4') } }],
  ['a video without a media type', { type: 'video_url', video_url: { url: url('') } }],
])('refuses %s for a model without an audio price', async (_what, part) => {
  const body = { model: 'alibaba/qwen3.5-27b', messages: [{ role: 'user', content: [part] }] }
  const response = await app.call('/openai/v1/chat/completions', body)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { code: 'invalid_request', param: 'messages[0].content[0]' },
  })
})

test.each(['audio/mpeg', 'video/mp4', undefined])(
  "refuses Gemini's file of the media type %s for a model without an audio price",
  async mimeType => {
    const fileData = { fileUri: 'https://a/b', ...(mimeType === undefined ? {} : { mimeType }) }
    const body = { contents: [{ role: 'user', parts: [{ fileData }] }] }
    const response = await app.call('/gemini/v1beta/models/alibaba%2Fqwen3.5-27b:generateContent', body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('the price of audio input')
  },
)

test('accepts a document and an image for a model without an audio price', async () => {
  upstream.script(completion('x'))
  const image = { type: 'image_url', image_url: { url: 'https://a/b.png' } }
  const content = [file({ filename: 'a.pdf', file_data: url('application/pdf') }), image]
  const body = { model: 'alibaba/qwen3.5-27b', messages: [{ role: 'user', content }] }
  expect((await app.call('/openai/v1/chat/completions', body)).status).toBe(200)
})
