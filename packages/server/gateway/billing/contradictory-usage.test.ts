import { encodeAwsEvent } from '@rideau/llm/frames/aws-event-frame'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  json,
  stream,
  type UpstreamAnswer,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { toFormatRequest } from '../../testing/harness/format-requests.ts'

/** Usage that its own answer contradicts: what is missing or 0 and cannot be is billed by an estimate. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})
afterAll(() => harness.close())

/** Some 250 tokens. */
const LONG = 'many words were said here '.repeat(40)
const CHAT = 'groq/llama-3.3-70b-versatile'
const CLAUDE = 'anthropic/claude-sonnet-4-6'
const BEDROCK = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'

async function findLogOf(response: Response) {
  await response.arrayBuffer()
  return await harness.app.findLog(response.headers.get('x-request-id') as string)
}

async function ask(surface: string, model: string, answer: UpstreamAnswer, fields = {}) {
  harness.upstream.script(answer)
  const { route, body } = toFormatRequest(surface, model, fields)
  return await findLogOf(await harness.app.call(route, body))
}

function counted(input: number, output: number) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function message(usage: object): UpstreamAnswer {
  const content = [{ type: 'text', text: LONG }]
  return json(200, { id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage })
}

function converse(usage: object): UpstreamAnswer {
  const output = { message: { role: 'assistant', content: [{ text: LONG }] } }
  return json(200, { output, stopReason: 'end_turn', usage })
}

function content(usageMetadata: object): UpstreamAnswer {
  const candidates = [{ content: { role: 'model', parts: [{ text: LONG }] }, finishReason: 'STOP' }]
  return json(200, { candidates, usageMetadata })
}

function cohere(usage: object): UpstreamAnswer {
  const said = { role: 'assistant', content: [{ type: 'text', text: LONG }] }
  return json(200, { id: 'c', finish_reason: 'COMPLETE', message: said, usage })
}

function ollama(counts: object): UpstreamAnswer {
  const said = { role: 'assistant', content: LONG }
  return json(200, { model: 'q', message: said, done: true, done_reason: 'stop', ...counts })
}

function response(usage: object): UpstreamAnswer {
  const text = { type: 'output_text', text: LONG, annotations: [] }
  const item = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text] }
  return json(200, { id: 'r', object: 'response', status: 'completed', error: null, output: [item], usage })
}

describe('a plain answer', () => {
  test.each<[string, string, string, UpstreamAnswer]>([
    ['a completion of 0 tokens', 'openai-chat', CHAT, completion(LONG, { usage: counted(9, 0) })],
    [
      'a response of 0 tokens',
      'openai-responses',
      'openai/gpt-5-pro',
      response({ input_tokens: 9, output_tokens: 0 }),
    ],
    ['a message without output', 'anthropic-messages', CLAUDE, message({ input_tokens: 9 })],
    [
      'content without candidates',
      'gemini-content',
      'gemini/gemini-3-flash-preview',
      content({ promptTokenCount: 9 }),
    ],
    ['a converse without output', 'bedrock-converse', BEDROCK, converse({ inputTokens: 9 })],
    [
      'a Cohere chat without output',
      'cohere-v2',
      'cohere/command-a-03-2025',
      cohere({ tokens: { input_tokens: 9 } }),
    ],
    ['an Ollama chat without output', 'ollama-chat', 'ollama/qwen3:8b', ollama({ prompt_eval_count: 9 })],
  ])('is billed its output by the length of its text after %s', async (_what, surface, model, answer) => {
    const log = await ask(surface, model, answer)
    expect(log.usage_estimated).toBe(true)
    expect(log.usage.input_tokens).toBe(9)
    expect(log.usage.output_tokens).toBeGreaterThan(200)
  })

  test.each<[string, string, string, UpstreamAnswer]>([
    ['a prompt of 0 tokens', 'openai-chat', CHAT, completion(LONG, { usage: counted(0, 300) })],
    ['a message without input', 'anthropic-messages', CLAUDE, message({ output_tokens: 300 })],
    ['an Ollama chat without input', 'ollama-chat', 'ollama/qwen3:8b', ollama({ eval_count: 300 })],
  ])('is billed the counted input after %s', async (_what, surface, model, answer) => {
    const log = await ask(surface, model, answer)
    expect(log.usage_estimated).toBe(true)
    expect(log.usage.input_tokens).toBeGreaterThan(10)
    expect(log.usage.output_tokens).toBe(300)
  })

  test.each<[string, string, string, UpstreamAnswer]>([
    [
      'a response',
      'openai-responses',
      'openai/gpt-5-pro',
      response({ input_tokens: 9, output_tokens: 1, total_tokens: 900 }),
    ],
    [
      'content',
      'gemini-content',
      'gemini/gemini-3-flash-preview',
      content({ promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 900 }),
    ],
    [
      'a converse',
      'bedrock-converse',
      BEDROCK,
      converse({ inputTokens: 9, outputTokens: 1, totalTokens: 900 }),
    ],
  ])('is billed as output what only the total of %s has', async (_what, surface, model, answer) => {
    const log = await ask(surface, model, answer)
    expect(log.usage).toMatchObject({ input_tokens: 9, output_tokens: 891, total_tokens: 900 })
  })

  test.each<[string, string, string, UpstreamAnswer]>([
    [
      'a response',
      'openai-responses',
      'openai/gpt-5-pro',
      response({ input_tokens: 9, output_tokens: 1, output_tokens_details: { reasoning_tokens: 700 } }),
    ],
    [
      'a message',
      'anthropic-messages',
      CLAUDE,
      message({ input_tokens: 9, output_tokens: 1, output_tokens_details: { thinking_tokens: 700 } }),
    ],
  ])(
    'is billed the reasoning of %s that has more of it than output',
    async (_what, surface, model, answer) => {
      const log = await ask(surface, model, answer)
      expect(log.usage).toMatchObject({ input_tokens: 9, output_tokens: 700 })
    },
  )

  test('without any text may have no output', async () => {
    const log = await ask('openai-chat', CHAT, completion('', { usage: counted(9, 0) }))
    expect(log).toMatchObject({ usage_estimated: false, usage: { input_tokens: 9, output_tokens: 0 } })
  })

  test.each([
    ['a null', null],
    ['an error', { message: 'the answer was lost', type: 'server_error' }],
  ])('with %s in place of choices is billed what it counts', async (_what, error) => {
    const log = await ask('openai-chat', CHAT, completion('', { error, choices: [], usage: counted(9, 500) }))
    expect(log.status).toBeGreaterThan(499)
    expect(log.usage.output_tokens).toBeGreaterThan(499)
    expect(log.cost_usd).toBeGreaterThan(0)
  })
})

describe('a stream', () => {
  const said = [chunk({ role: 'assistant', content: '' }), chunk({ content: LONG }), chunk({ content: LONG })]
  const stop = chunk({}, 'stop')
  const chat = (...frames: string[]): UpstreamAnswer => stream(...frames, DONE)

  test.each<[string, UpstreamAnswer, number]>([
    ['0 tokens', chat(...said, stop, usageChunk(counted(9, 0))), 400],
    ['its usage before its text alone', chat(usageChunk(counted(9, 1)), ...said, stop), 400],
    [
      'another usage after its last',
      chat(...said, stop, usageChunk(counted(9, 777)), usageChunk(counted(9, 1))),
      777,
    ],
  ])('is billed no less than it showed or said if it reports %s', async (_what, answer, least) => {
    const log = await ask('openai-chat', CHAT, answer, { stream: true })
    expect(log.usage.input_tokens).toBe(9)
    expect(log.usage.output_tokens).toBeGreaterThanOrEqual(least)
  })

  test('is billed the last usage if each event reports one', async () => {
    const frames = [1, 2, 3].map(at => {
      const delta = { role: 'assistant', content: `${at}` }
      const choices = [{ index: 0, delta, finish_reason: at === 3 ? 'stop' : null }]
      return `data: ${JSON.stringify({ id: 'c', choices, usage: counted(9, at) })}\n\n`
    })
    const log = await ask('openai-chat', CHAT, chat(...frames), { stream: true })
    expect(log).toMatchObject({ usage_estimated: false, usage: { input_tokens: 9, output_tokens: 3 } })
  })

  test('is billed the last usage if events report one before their text', async () => {
    const frames = [1, 2, 3].map(at => {
      const finish = at === 3 ? { finishReason: 'STOP' } : {}
      const candidates = [{ content: { role: 'model', parts: [{ text: `${at} ` }] }, ...finish }]
      const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: at, totalTokenCount: 9 + at }
      return `data: ${JSON.stringify({ candidates, usageMetadata })}\r\n\r\n`
    })
    const log = await ask('native', 'gemini/gemini-3-flash-preview', stream(...frames), { stream: true })
    expect(log).toMatchObject({ usage_estimated: false, usage: { input_tokens: 9, output_tokens: 3 } })
  })

  test.each([
    ['no usage', undefined],
    ['null as its output', { output_tokens: null }],
  ])('is billed by its length if the end of its messages reports %s', async (_what, usage) => {
    const events = [
      {
        type: 'message_start',
        message: { id: 'm', content: [], usage: { input_tokens: 9, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: LONG } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        ...(usage === undefined ? {} : { usage }),
      },
      { type: 'message_stop' },
    ]
    const frames = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const log = await ask('anthropic-messages', CLAUDE, stream(...frames), { stream: true })
    expect(log.usage.input_tokens).toBe(9)
    expect(log.usage.output_tokens).toBeGreaterThan(200)
  })

  test('is billed by its length if it is a refusal without usage', async () => {
    const refusal = [chunk({ role: 'assistant' }), chunk({ refusal: LONG })]
    const log = await ask('openai-chat', CHAT, chat(...refusal, stop), { stream: true })
    expect(log.usage.output_tokens).toBeGreaterThan(200)
  })

  test('is billed the usage after a broken frame if it ends before its first text', async () => {
    const usage = { inputTokens: 9, outputTokens: 500, totalTokens: 509 }
    const frames = [
      encodeAwsEvent('messageStart', { role: 'assistant' }),
      encodeAwsEvent('messageStop', { stopReason: 'malformed_model_output' }),
      encodeAwsEvent('metadata', { usage }),
    ]
    const answer: UpstreamAnswer = res => {
      res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      res.end(Buffer.concat(frames))
    }
    const log = await ask('native', BEDROCK, answer, { stream: true })
    expect(log.status).toBeGreaterThan(499)
    expect(log.usage.output_tokens).toBeGreaterThan(499)
  })

  test('is billed the reported usage if it fails before its first text', async () => {
    const failed = `data: ${JSON.stringify({ error: { message: 'lost', type: 'server_error' } })}\n\n`
    const log = await ask('openai-chat', CHAT, chat(usageChunk(counted(9, 500)), failed), { stream: true })
    expect(log.status).toBeGreaterThan(499)
    expect(log.usage.output_tokens).toBeGreaterThan(499)
  })
})

describe('an image', () => {
  const data = [{ b64_json: 'QUJD' }]
  const LOW = { size: '1024x1024', quality: 'low' }
  /** The output tokens of one image of this size and quality. */
  const MIN = 272

  async function draw(model: string, answer: object, fields = {}) {
    harness.upstream.script(json(200, answer))
    return await findLogOf(
      await harness.app.call('/openai/v1/images/generations', { model, prompt: 'a fox', ...fields }),
    )
  }

  test.each([
    ['no output', { input_tokens: 9 }],
    ['an output of 0', { input_tokens: 9, output_tokens: 0, total_tokens: 9 }],
    ['fractions', { input_tokens: 9, output_tokens: 271.5 }],
    ['a total alone besides', { input_tokens: 9, total_tokens: 281 }],
    ['text alone', { input_tokens: 9, output_tokens: 272, output_tokens_details: { text_tokens: 272 } }],
  ])("is billed as one if OpenAI's usage has %s", async (_what, usage) => {
    const log = await draw('openai/gpt-image-1', { created: 1, data, usage }, LOW)
    expect(log.usage.output_tokens).toBe(MIN)
    // $40 for a million.
    expect(log.cost_usd).toBeGreaterThan((MIN * 40) / 1e6)
  })

  const drawn = { inlineData: { mimeType: 'image/png', data: 'QUJD' } }
  const GEMINI = 'gemini/gemini-2.5-flash-image'

  test.each([
    ['no output', { promptTokenCount: 9 }],
    ['a total alone besides', { promptTokenCount: 9, totalTokenCount: 1299 }],
    ['empty details', { promptTokenCount: 9, candidatesTokenCount: 1290, candidatesTokensDetails: [] }],
  ])("is billed as one if Gemini's usage has %s", async (_what, usageMetadata) => {
    const candidates = [{ content: { parts: [drawn] }, finishReason: 'STOP' }]
    const log = await draw(GEMINI, { candidates, usageMetadata })
    expect(log.usage.output_tokens).toBeGreaterThanOrEqual(1290)
    // $30 for a million.
    expect(log.cost_usd).toBeGreaterThan((1290 * 30) / 1e6)
  })

  test('is billed the reported usage if its provider took it away', async () => {
    const usageMetadata = { promptTokenCount: 900, thoughtsTokenCount: 500, totalTokenCount: 1400 }
    const log = await draw(GEMINI, { candidates: [{ finishReason: 'IMAGE_SAFETY' }], usageMetadata })
    expect(log.status).toBe(400)
    expect(log.usage).toMatchObject({ input_tokens: 900, output_tokens: 500 })
    expect(log.cost_usd).toBeGreaterThan(0)
  })
})

describe('a transcript', () => {
  async function transcribe(model: string, answer: object) {
    harness.upstream.script(json(200, { text: 'many words', ...answer }))
    const form = new FormData()
    form.set('model', model)
    form.set('file', new Blob([`ID3${'\0'.repeat(200_000)}`], { type: 'audio/mpeg' }), 'a.mp3')
    const headers = { authorization: `Bearer ${harness.app.secretKey}` }
    const init = { method: 'POST', headers, body: form }
    return await findLogOf(await fetch(`${harness.app.gatewayUrl}/openai/v1/audio/transcriptions`, init))
  }

  test.each([
    ['groq/whisper-large-v3', { duration: 0 }],
    ['groq/whisper-large-v3', { duration: '' }],
    ['groq/whisper-large-v3', { usage: { type: 'duration', seconds: 0 } }],
    ['openai/gpt-4o-transcribe', { usage: { type: 'tokens', input_tokens: 9 } }],
    ['openai/gpt-4o-transcribe', { usage: { type: 'tokens', output_tokens: 9 } }],
  ])('is billed at its maximum by %s if the provider reports %j', async (model, answer) => {
    const log = await transcribe(model, answer)
    expect(log).toMatchObject({ status: 200, usage_estimated: true })
    const none = await transcribe(model, {})
    expect(log.cost_usd).toBe(none.cost_usd)
  })

  test('is billed the longer of two lengths', async () => {
    const usage = { type: 'duration', seconds: 1 }
    const log = await transcribe('groq/whisper-large-v3', { duration: 3600, usage })
    expect(log.cost_usd).toBeGreaterThan(0.1)
  })
})

test('vectors are billed the larger of two counts', async () => {
  const data = [{ index: 0, embedding: [1, 2] }]
  harness.upstream.script(json(200, { data, usage: { prompt_tokens: 1, total_tokens: 90 } }))
  const body = { model: 'openai/text-embedding-3-small', input: 'hi' }
  const log = await findLogOf(await harness.app.call('/v1/embeddings', body))
  expect(log.usage.input_tokens).toBe(90)
})
