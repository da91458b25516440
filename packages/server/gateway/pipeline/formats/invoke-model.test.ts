import { openAwsEventStreamParser } from '@rideau/llm/frames/aws-event-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

/** Bedrock's InvokeModel with bodies of Anthropic and of Amazon's embeddings. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'anthropic']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  await app.addCredential('bedrock', {
    api_key: 'bedrock-key',
    base_url: upstream.origin,
    options: { region: 'us-east-1' },
  })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CLAUDE = 'anthropic/claude-haiku-4-5'
const asked = {
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Time?' }],
}
const invoke = (model: string, body: unknown, { action = 'invoke', ...options }: Record<string, any> = {}) =>
  app.call(`/bedrock/model/${encodeURIComponent(model)}/${action}`, body, options)
const sent = () => upstream.requests.at(-1)
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content: [{ type: 'text', text: 'Noon.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 2 },
}
const STREAM = { action: 'invoke-with-response-stream' }

async function readChunks(response: Response): Promise<any[]> {
  expect(response.headers.get('content-type')).toBe('application/vnd.amazon.eventstream')
  const chunks: any[] = []
  const parser = openAwsEventStreamParser(({ data }) => {
    const { bytes } = JSON.parse(data) as { bytes: string }
    chunks.push(JSON.parse(Buffer.from(bytes, 'base64').toString()))
  })
  parser.push(Buffer.from(await response.arrayBuffer()))
  return chunks
}

describe('a body of Anthropic', () => {
  test('goes to Anthropic as a message, and the answer passes through', async () => {
    upstream.script(json(200, message))
    const response = await invoke(CLAUDE, { ...asked, anthropic_beta: ['context-1m-2025-08-07'], top_k: 3 })
    expect(await response.json()).toEqual(message)
    expect(sent()).toMatchObject({
      path: '/v1/messages',
      headers: { 'anthropic-beta': 'context-1m-2025-08-07' },
      body: { model: 'claude-haiku-4-5', max_tokens: 10, messages: asked.messages, top_k: 3 },
    })
    expect(sent()?.body).not.toHaveProperty('anthropic_version')
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({ endpoint: 'chat', surface: 'bedrock', status: 200, model: CLAUDE })
  })

  test('asks Bedrock by Converse, with what is in beta among the fields of the model', async () => {
    upstream.script(
      json(200, {
        output: { message: { role: 'assistant', content: [{ text: 'Noon.' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 9, outputTokens: 2, totalTokens: 11 },
      }),
    )
    const model = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
    const response = await invoke(model, { ...asked, anthropic_beta: ['context-1m-2025-08-07'] })
    expect(await response.json()).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'Noon.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 2 },
    })
    expect(sent()).toMatchObject({
      path: '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
      body: { additionalModelRequestFields: { anthropic_beta: ['context-1m-2025-08-07'] } },
    })
  })

  test("streams Anthropic's events in frames of AWS from any provider", async () => {
    upstream.script(streamedCompletion('No', 'on.'))
    const chunks = await readChunks(await invoke('openai/gpt-4o', asked, STREAM))
    expect(chunks.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(chunks.map(({ delta }) => delta?.text ?? '').join('')).toBe('Noon.')
    expect(chunks.at(-1)['amazon-bedrock-invocationMetrics']).toMatchObject({
      inputTokenCount: 12,
      outputTokenCount: 3,
    })
  })

  test('passes the events of Anthropic itself', async () => {
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Noon.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.end(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    })
    const chunks = await readChunks(await invoke(CLAUDE, asked, STREAM))
    expect(chunks.slice(0, -1)).toEqual(events.slice(0, -1))
    expect(chunks.at(-1)).toMatchObject({ type: 'message_stop' })
    expect(sent()?.body).toMatchObject({ stream: true })
  })

  test.each([
    ['without a version', { ...asked, anthropic_version: null }, 'anthropic_version'],
    ['of another maker', { prompt: 'hi', max_gen_len: 5 }, 'anthropic_version'],
    ['with a model', { ...asked, model: 'openai/gpt-4o' }, 'model'],
    ['that says whether it is a stream', { ...asked, stream: true }, 'stream'],
    ['with betas that are no names', { ...asked, anthropic_beta: ['a,b\nx: y'] }, 'anthropic_beta'],
    ['without messages', { ...asked, messages: 'hi' }, 'messages'],
  ])('is refused %s', async (_title, body, param) => {
    const before = upstream.requests.length
    const response = await invoke(CLAUDE, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ param })
    expect(upstream.requests.length).toBe(before)
  })

  test('may ask for nothing in beta with a client token', async () => {
    upstream.script(json(200, message))
    const key = await makePlaygroundToken(app)
    await invoke(CLAUDE, { ...asked, anthropic_beta: ['context-1m-2025-08-07'] }, { key })
    expect(sent()?.headers).not.toHaveProperty('anthropic-beta')
  })
})

describe("a body of Amazon's embeddings", () => {
  test('is answered in its shape by Titan and by other models', async () => {
    const models: [string, object][] = [
      ['bedrock/amazon.titan-embed-text-v2:0', { embedding: [1, 2], inputTextTokenCount: 4 }],
      [
        'openai/text-embedding-3-small',
        { data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 4 } },
      ],
    ]
    for (const [model, reply] of models) {
      upstream.script(json(200, reply))
      const response = await invoke(model, { inputText: 'a', dimensions: 256, normalize: true })
      expect(await response.json()).toEqual({
        embedding: [1, 2],
        embeddingsByType: { float: [1, 2] },
        inputTextTokenCount: 4,
      })
      const log = await app.findLog(response.headers.get('x-request-id') as string)
      expect(log).toMatchObject({ endpoint: 'embeddings', surface: 'bedrock', model })
    }
  })

  test.each([
    ['no text', {}, 'inputText'],
    ['vectors that are not normalized', { inputText: 'a', normalize: false }, 'normalize'],
    ['another type of vectors', { inputText: 'a', embeddingTypes: ['binary'] }, 'embeddingTypes[0]'],
    ['an unknown field', { inputText: 'a', other: 1 }, 'other'],
  ])('is refused with %s', async (_title, body, param) => {
    const response = await invoke('bedrock/amazon.titan-embed-text-v2:0', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ param })
  })

  test('needs the right to embed, and a chat the right to chat', async () => {
    const chat = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    const embed = await app.createKey({ restrictions: { allowed_endpoints: ['embeddings'] } })
    const titan = 'bedrock/amazon.titan-embed-text-v2:0'
    expect((await invoke(titan, { inputText: 'a' }, { key: chat.key })).status).toBe(403)
    expect((await invoke(CLAUDE, asked, { key: embed.key })).status).toBe(403)
    // A chat's body does not become one by the name of an embedding model.
    const response = await invoke(titan, asked, { key: embed.key })
    expect(await response.json()).toMatchObject({ param: 'max_tokens' })
  })
})
