import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseConfig } from '../../app/settings/settings.ts'
import type { ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'
import { listRoutes } from '../routes.ts'

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
})

afterAll(() => limited.close())

/** A form with the first bytes of a recording. */
function ofAudio(): FormData {
  const form = new FormData()
  form.set('model', 'openai/whisper-1')
  form.set('file', new Blob([Buffer.from(`RIFF${' '.repeat(4)}WAVEfmt ${' '.repeat(64)}`)]), 'a.wav')
  return form
}

const EMBEDDER = 'sandbox/embed'
const PAINTER = 'sandbox/image'
/** The models of routes that serve some models only. */
const MODELS: Record<string, string> = { embeddings: EMBEDDER, images: PAINTER }

test('every route that can call a provider is refused at a budget of 0; models and cancel are not', async () => {
  const { key } = await limited.freshKey(0)
  const chat = { model: PRICED, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const converse = { messages: [{ role: 'user', content: [{ text: 'hi' }] }] }
  const invoke = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 10, messages: chat.messages }
  const bodies: Record<string, unknown> = {
    '/v1/chat': chat,
    '/openai/v1/chat/completions': chat,
    '/openai/v1/responses': { model: PRICED, input: 'hi' },
    '/openai/v1/completions': { model: PRICED, prompt: 'hi' },
    '/openai/v1/responses/input_tokens': { model: PRICED, input: 'hi' },
    '/anthropic/v1/messages': chat,
    '/anthropic/v1/messages/count_tokens': { model: PRICED, messages: chat.messages },
    '/ollama/api/chat': { model: PRICED, messages: chat.messages },
    '/ollama/api/generate': { model: PRICED, prompt: 'hi' },
    '/ollama/api/embed': { model: 'sandbox/embed', input: 'hi' },
    '/ollama/api/embeddings': { model: 'sandbox/embed', prompt: 'hi' },
    '/ollama/v1/messages': chat,
    '/ollama/v1/messages/count_tokens': { model: PRICED, messages: chat.messages },
    '/cohere/v2/embed': { model: 'sandbox/embed', texts: ['hi'], input_type: 'search_query' },
    '/v1/embeddings': { model: 'sandbox/embed', input: 'hi' },
    '/openai/v1/embeddings': { model: 'sandbox/embed', input: 'hi' },
    '/openai/v1/responses/compact': { model: 'openai/gpt-5.4', input: 'hi' },
    '/openai/v1/audio/transcriptions': ofAudio(),
    '/openai/v1/audio/translations': ofAudio(),
    '/openai/v1/audio/speech': { model: 'openai/tts-1', input: 'hi', voice: 'alloy' },
    '/openai/v1/images/generations': { model: 'sandbox/image', prompt: 'hi' },
    '/openai/v1/images/edits': {
      model: 'sandbox/image',
      prompt: 'hi',
      // The first bytes of a PNG.
      images: [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
    },
    '/cohere/v2/chat': chat,
    [`/bedrock/model/${PRICED}/converse`]: converse,
    [`/bedrock/model/${PRICED}/converse-stream`]: converse,
    [`/bedrock/model/${PRICED}/invoke`]: invoke,
    [`/bedrock/model/${PRICED}/invoke-with-response-stream`]: invoke,
    [`/bedrock/model/${EMBEDDER}/invoke`]: { inputText: 'hi' },
    [`/bedrock/model/${PRICED}/count-tokens`]: { input: { converse } },
  }
  for (const path of [
    '/chat/completions',
    '/completions',
    '/responses',
    '/responses/compact',
    '/responses/input_tokens',
    '/embeddings',
  ])
    bodies[`/ollama/v1${path}`] = bodies[`/openai/v1${path}`]
  for (const path of ['/v1/rerank', '/openai/v1/rerank', '/cohere/v1/rerank', '/cohere/v2/rerank'])
    bodies[path] = { model: 'sandbox/rerank', query: 'hi', documents: ['hi'] }
  const versions = ['v1beta', 'v1', 'v1alpha'].flatMap(version => [`${version}/models`, version])
  for (const version of versions) {
    const content = { parts: [{ text: 'hi' }] }
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens'])
      bodies[`/gemini/${version}/${PRICED}:${method}`] = { contents: [content] }
    for (const method of ['generateContent', 'streamGenerateContent'])
      bodies[`/gemini/${version}/${PAINTER}:${method}`] = { contents: [content] }
    bodies[`/gemini/${version}/${EMBEDDER}:embedContent`] = { content }
    bodies[`/gemini/${version}/${EMBEDDER}:batchEmbedContents`] = { requests: [{ content }] }
  }
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
  const send = (path: string, body: unknown, bearer: string): Promise<Response> =>
    body instanceof FormData
      ? fetch(app.gatewayUrl + path, { method: 'POST', headers: { authorization: `Bearer ${bearer}` }, body })
      : app.call(path, body, { key: bearer })
  const before = upstream.requests.length
  for (const route of listRoutes(new FormatRegistry(FORMATS), parseConfig({}).prefixes)) {
    // Some formats name the model in the path.
    const rest = route.isMetered ? (MODELS[route.endpoint] ?? PRICED) : '018f0000-0000-7000-8000-000000000000'
    const path = route.path.replace('*', rest)
    if (!route.isMetered) {
      const response = await fetch(app.gatewayUrl + path, {
        method: route.method,
        headers: { authorization: `Bearer ${key}` },
      })
      expect([path, response.status]).not.toEqual([path, 402])
      continue
    }
    // A new route needs a body here with which it would call a provider.
    expect([path, bodies[path]]).toEqual([path, expect.anything()])
    expect([path, (await send(path, bodies[path], key)).status]).toEqual([path, 402])
  }
  expect(upstream.requests.length).toBe(before)
})
