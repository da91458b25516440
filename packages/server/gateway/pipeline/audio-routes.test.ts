import { openAiAudio } from '@rideau/llm/audio/openai-audio'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { json, type ScriptedUpstream, type UpstreamAnswer } from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
  for (const provider of ['openai', 'groq', 'gemini']) {
    await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

const TRANSCRIPTIONS = '/openai/v1/audio/transcriptions'
const SPEECH = '/openai/v1/audio/speech'
/** An MP3 file of 40 bytes, which is at most one second. */
const MP3 = Buffer.concat([Buffer.from('ID3\x04'), Buffer.alloc(36)])
const heard = json(200, { text: 'Hello there.', usage: { type: 'duration', seconds: 60 } })
const SPOKEN = Buffer.from([0xff, 0xfb, 1, 2, 3])

const bytes =
  (body: Buffer | string, type: string): UpstreamAnswer =>
  res => {
    res.writeHead(200, { 'content-type': type })
    res.end(body)
  }

async function formOf(seen: ScriptedUpstream['requests'][number] | undefined): Promise<FormData> {
  const headers = { 'content-type': seen?.headers['content-type'] as string }
  return await new Response(seen?.bytes, { headers }).formData()
}

const toForm = (fields: Record<string, string | Blob>, more: [string, string | Blob][] = []): FormData => {
  const form = new FormData()
  for (const [name, value] of [...Object.entries(fields), ...more]) form.append(name, value)
  return form
}

const post = (
  path: string,
  body: FormData | string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(app.gatewayUrl + path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${app.secretKey}`, ...headers },
  })

describe('transcriptions', () => {
  test('the most that a request may use is found once, and not by each target and step', async () => {
    const found = vi.spyOn(openAiAudio, 'maxTranscriptUsage')
    upstream.script(heard)
    const response = await post(TRANSCRIPTIONS, toForm({ model: 'openai/whisper-1', file: new Blob([MP3]) }))
    expect(response.status).toBe(200)
    expect(found).toHaveBeenCalledTimes(1)
    found.mockRestore()
  })

  test('reach the provider from the official client as a form and come back with their usage', async () => {
    upstream.script(heard)
    const file = await toFile(MP3, 'talk.mp3')
    const answer = await client.audio.transcriptions.create({
      ...{ file, model: 'openai/whisper-1', language: 'en', prompt: 'Names: Ann', temperature: 0.2 },
    })
    expect(answer).toMatchObject({ text: 'Hello there.', usage: { type: 'duration', seconds: 60 } })
    const sent = upstream.requests.at(-1)
    expect(sent?.path).toBe('/v1/audio/transcriptions')
    const form = await formOf(sent)
    const names = ['model', 'language', 'prompt', 'temperature', 'response_format']
    expect(names.map(name => form.get(name))).toEqual(['whisper-1', 'en', 'Names: Ann', '0.2', 'json'])
    const received = form.get('file') as File
    expect([received.name, received.type]).toEqual(['audio.mp3', 'audio/mpeg'])
    expect(Buffer.from(await received.arrayBuffer())).toEqual(MP3)
  })

  test('as subtitles are made of the times that the provider reports', async () => {
    upstream.script(json(200, { text: 'Hi', duration: 1, segments: [{ start: 0, end: 1, text: ' Hi' }] }))
    const file = await toFile(MP3, 'talk.mp3')
    const answer = await client.audio.transcriptions.create({
      ...{ file, model: 'groq/whisper-large-v3', response_format: 'srt' },
    })
    expect(answer).toBe('1\n00:00:00,000 --> 00:00:01,000\nHi\n\n')
    expect((await formOf(upstream.requests.at(-1))).get('response_format')).toBe('verbose_json')
  })

  test('as a stream are events that the official client reads', async () => {
    upstream.script(json(200, { text: 'Hi', usage: { type: 'tokens', input_tokens: 14, output_tokens: 2 } }))
    const file = await toFile(MP3, 'talk.mp3')
    const events = await client.audio.transcriptions.create({
      ...{ file, model: 'openai/gpt-4o-transcribe', stream: true },
    })
    const types: string[] = []
    for await (const event of events) types.push(event.type)
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done'])
    expect((await formOf(upstream.requests.at(-1))).get('stream')).toBeNull()
  })

  test('repeat their lists with [] and translate by the other route', async () => {
    upstream.script(heard)
    const file = new Blob([MP3])
    const granularities: [string, string][] = [
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ]
    const form = toForm({ file: file as File, model: 'openai/whisper-1' }, granularities)
    form.set('file', file, 'a.mp3')
    const response = await post('/openai/v1/audio/translations', form)
    expect(response.status).toBe(200)
    const sent = upstream.requests.at(-1)
    expect(sent?.path).toBe('/v1/audio/translations')
    expect((await formOf(sent)).getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])
  })

  test('are billed by their length, and reserved by the longest that the file can be', async () => {
    upstream.script(heard)
    const { key, budget } = await limited.freshKey(1)
    const form = toForm({ model: 'openai/whisper-1' })
    form.set('file', new Blob([MP3]), 'a.mp3')
    const response = await post(TRANSCRIPTIONS, form, { authorization: `Bearer ${key}` })
    expect(response.status).toBe(200)
    // A minute at $0.36 an hour.
    await expect.poll(async () => (await budget()).spent_usd).toBe(0.006)
    const long = toForm({ model: 'openai/whisper-1' })
    long.set('file', new Blob([MP3, Buffer.alloc(10 * 1024 * 1024)]), 'a.mp3')
    const refused = await post(TRANSCRIPTIONS, long, { authorization: `Bearer ${key}` })
    expect([refused.status, ((await refused.json()) as any).error.code]).toEqual([402, 'budget_exceeded'])
  })

  test('are billed by the estimate if the provider does not report their length', async () => {
    upstream.script(json(200, { text: 'Hi' }))
    const { key, budget } = await limited.freshKey(1)
    const form = toForm({ model: 'groq/whisper-large-v3' })
    form.set('file', new Blob([MP3]), 'a.mp3')
    expect((await post(TRANSCRIPTIONS, form, { authorization: `Bearer ${key}` })).status).toBe(200)
    // Ten seconds, the least that is billed, at $0.111 an hour.
    await expect.poll(async () => (await budget()).spent_usd).toBeCloseTo(0.000_308, 6)
  })

  const base = { model: 'openai/whisper-1' }
  const audio = new File([MP3], 'a.mp3')

  test.each<[string, FormData, string, string | undefined]>([
    ['no file', toForm(base), 'invalid_request', 'file'],
    ['text as its file', toForm({ ...base, file: 'x' }), 'invalid_request', 'file'],
    [
      'a file that is no audio',
      toForm({ ...base, file: new File(['x'], 'a.mp3') }),
      'invalid_request',
      'file',
    ],
    ['two files', toForm({ ...base, file: audio }, [['file', audio]]), 'request_validation_failed', 'file'],
    ['another file', toForm({ ...base, file: audio, more: audio }), 'invalid_request', 'more'],
    [
      'a field twice',
      toForm({ ...base, file: audio }, [['model', 'a/b']]),
      'request_validation_failed',
      'model',
    ],
    ['an address', toForm({ ...base, file: audio, url: 'http://10.0.0.1/' }), 'invalid_request', 'url'],
    [
      'a format that the model lacks',
      toForm({ model: 'openai/gpt-4o-transcribe', file: audio, response_format: 'srt' }),
      'invalid_request',
      'response_format',
    ],
    ['a speech model', toForm({ model: 'openai/tts-1', file: audio }), 'model_missing_capability', 'model'],
    ['a chat model', toForm({ model: 'openai/gpt-4o', file: audio }), 'model_missing_capability', 'model'],
    [
      '__proto__',
      toForm({ ...base, file: audio, ['__proto__']: 'x' }, [['__proto__', 'x']]),
      'request_validation_failed',
      '__proto__',
    ],
    ['a reserved field', toForm({ ...base, file: audio, n: '4' }), 'invalid_request', 'n'],
  ])('with %s are refused', async (_, form, code, param) => {
    const before = upstream.requests.length
    const response = await post(TRANSCRIPTIONS, form)
    const { error } = (await response.json()) as any
    expect([error.code, error.param]).toEqual([code, param])
    expect(upstream.requests).toHaveLength(before)
  })

  test('as JSON are refused', async () => {
    const response = await post(TRANSCRIPTIONS, '{}', { 'content-type': 'application/json' })
    expect(((await response.json()) as any).error.code).toBe('unsupported_media_type')
  })

  test('get the same answer again for the same Idempotency-Key and file, and a conflict for another file', async () => {
    upstream.script(heard)
    const before = upstream.requests.length
    const send = (file: Buffer): Promise<Response> => {
      const form = toForm({ model: 'openai/whisper-1' })
      form.set('file', new Blob([file]), 'a.mp3')
      return post(TRANSCRIPTIONS, form, { 'idempotency-key': 'transcript' })
    }
    const first = await (await send(MP3)).text()
    const second = await send(MP3)
    expect([second.headers.get('idempotent-replayed'), await second.text()]).toEqual(['true', first])
    expect((await send(Buffer.concat([MP3, Buffer.alloc(1)]))).status).toBe(409)
    expect(upstream.requests).toHaveLength(before + 1)
  })
})

describe('speech', () => {
  test('returns to the official client the bytes that the provider sends, billed by characters', async () => {
    upstream.script(bytes(SPOKEN, 'audio/mpeg'))
    const { key, budget } = await limited.freshKey(1)
    const own = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: key, maxRetries: 0 })
    const answer = await own.audio.speech.create({
      ...{ model: 'openai/tts-1', input: 'x'.repeat(1_000), voice: 'alloy' },
    })
    expect(answer.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(SPOKEN)
    expect(upstream.requests.at(-1)?.body).toEqual({
      ...{ model: 'tts-1', input: 'x'.repeat(1_000), voice: 'alloy', response_format: 'mp3' },
    })
    await expect.poll(async () => (await budget()).spent_usd).toBe(0.015)
  })

  test('is asked for as events and billed by its tokens if the model reports usage', async () => {
    const events = [
      { type: 'speech.audio.delta', audio: SPOKEN.toString('base64') },
      { type: 'speech.audio.done', usage: { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 } },
    ]
    const text = events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
    upstream.script(bytes(text, 'text/event-stream'))
    const { key, budget } = await limited.freshKey(1)
    const body = { model: 'openai/gpt-4o-mini-tts', input: 'Hello', voice: 'alloy', response_format: 'wav' }
    const response = await app.call(SPEECH, body, { key })
    expect(response.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await response.arrayBuffer())).toEqual(SPOKEN)
    expect(upstream.requests.at(-1)?.body.stream_format).toBe('sse')
    // 1,000 tokens at $2.50 and 500 at $12 a million.
    await expect.poll(async () => (await budget()).spent_usd).toBe(0.0085)
  })

  test('as JSON with a status of 200 is a failed attempt', async () => {
    upstream.script(json(200, { error: { message: 'no' } }))
    const response = await app.call(SPEECH, { model: 'openai/tts-1', input: 'Hello', voice: 'alloy' })
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([
      503,
      'provider_unavailable',
    ])
  })

  test('is refused for a model for transcripts', async () => {
    const response = await app.call(SPEECH, { model: 'openai/whisper-1', input: 'Hello', voice: 'alloy' })
    expect(((await response.json()) as any).error.code).toBe('model_missing_capability')
  })
})

describe('who may not call it', () => {
  const body = { model: 'openai/tts-1', input: 'Hello', voice: 'alloy' }

  async function codeFor(key: string): Promise<string> {
    const response = await app.call(SPEECH, body, { key })
    return ((await response.json()) as any).error?.code ?? 'ok'
  }

  test('a client token', async () => {
    expect(await codeFor(await makePlaygroundToken(app))).toBe('endpoint_not_allowed')
  })

  test.each([
    ['without the scope of chats', { scopes: ['ai.images'] }],
    ['of other endpoints', { restrictions: { allowed_endpoints: ['chat'] } }],
  ])('a key %s', async (_, fields) => {
    const made = await limited.make(`/v1/environments/${app.developmentId}/keys`, {
      ...{ kind: 'secret', name: 'narrow' },
      ...fields,
    })
    expect(await codeFor(made.key)).toBe('endpoint_not_allowed')
  })

  test('a key whose maximum cost is less than the price', async () => {
    const restrictions = { max_request_cost_usd: 0.000_01 }
    const made = await limited.make(`/v1/environments/${app.developmentId}/keys`, {
      ...{ kind: 'secret', name: 'cheap', restrictions },
    })
    expect(await codeFor(made.key)).toBe('budget_exceeded')
  })
})

describe('at Gemini', () => {
  const usageOf = (input: object[], output: number): object => ({
    promptTokenCount: input.reduce((sum, each) => sum + (each as { tokenCount: number }).tokenCount, 0),
    ...{ promptTokensDetails: input, candidatesTokenCount: output },
  })

  test('a transcript is asked for in words, and billed by the tokens that were heard and said', async () => {
    const usageMetadata = usageOf(
      [
        { modality: 'TEXT', tokenCount: 1_000 },
        { modality: 'AUDIO', tokenCount: 32_000 },
      ],
      2_000,
    )
    const candidates = [{ content: { parts: [{ text: 'Hello there.' }] }, finishReason: 'STOP' }]
    upstream.script(json(200, { candidates, usageMetadata }))
    const { key, budget } = await limited.freshKey(1)
    const gemini = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: key, maxRetries: 0 })
    const file = await toFile(MP3, 'talk.mp3')
    const answer = await gemini.audio.transcriptions.create({ file, model: 'gemini/gemini-2.5-flash' })
    expect(answer).toMatchObject({ text: 'Hello there.', usage: { input_tokens: 33_000 } })
    expect(upstream.requests.at(-1)?.path).toMatch(/\/models\/gemini-2\.5-flash:generateContent$/)
    // $0.30, $1 and $2.50 a million.
    const cost = 0.0003 + 0.032 + 0.005
    await expect.poll(async () => (await budget()).spent_usd).toBe(cost)
  })

  test('speech comes as a WAV file, and is billed by the tokens that were spoken', async () => {
    const data = Buffer.from([1, 0, 2, 0]).toString('base64')
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data }
    const candidates = [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }]
    upstream.script(json(200, { candidates, usageMetadata: usageOf([{ tokenCount: 100 }], 1_000) }))
    const { key, budget } = await limited.freshKey(1)
    const body = { model: 'gemini/gemini-2.5-flash-preview-tts', input: 'Hi', voice: 'Kore' }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await post(SPEECH, JSON.stringify(body), headers)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav'])
    expect(Buffer.from(await response.arrayBuffer()).subarray(44)).toEqual(Buffer.from([1, 0, 2, 0]))
    await expect.poll(async () => (await budget()).spent_usd).toBe(0.01005)
    const refused = await post(SPEECH, JSON.stringify({ ...body, response_format: 'mp3' }), headers)
    const { error } = (await refused.json()) as any
    expect([refused.status, error.code, error.param]).toEqual([400, 'invalid_request', 'response_format'])
  })

  test('a model whose price for audio is unknown makes no transcript', async () => {
    const form = toForm({ model: 'gemini/gemini-2.5-pro' })
    form.set('file', new Blob([MP3]), 'a.mp3')
    const response = await post(TRANSCRIPTIONS, form)
    expect(((await response.json()) as any).error.code).toBe('model_missing_capability')
  })
})
