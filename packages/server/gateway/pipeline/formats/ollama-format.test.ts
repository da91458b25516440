import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

let app: TestApp
/** A provider of another format and one of the same. */
let other: ScriptedUpstream
let same: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  other = await openScriptedUpstream()
  same = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: other.baseUrl })
  await app.addCredential('ollama', { base_url: same.baseUrl })
})

afterAll(async () => {
  await other.close()
  await same.close()
  await app.close()
})

const OTHER = 'openai/gpt-4o'
const SAME = 'ollama/qwen3:8b'
const messages: object[] = [{ role: 'user', content: 'What time is it?' }]
const tools = [
  {
    type: 'function',
    function: { name: 'now', parameters: { type: 'object', properties: { tz: { type: 'string' } } } },
  },
]
const post = (fields: object, options = {}): Promise<Response> =>
  app.call('/ollama/api/chat', { model: OTHER, messages, ...fields }, options)

async function readLines(response: Response): Promise<any[]> {
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  return text
    .slice(0, -1)
    .split('\n')
    .map(line => JSON.parse(line))
}
const call = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"tz":"UTC"}' } }
const called = (fields: object, finish_reason: string): Record<string, unknown> => ({
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...fields }, finish_reason }],
})

describe('a model of another format', () => {
  test("answers in Ollama's shape", async () => {
    other.script(completion('Noon.'))
    const answer = await post({ stream: false, options: { num_predict: 9, temperature: 0, num_ctx: 4096 } })
    expect(await answer.json()).toEqual({
      model: OTHER,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      message: { role: 'assistant', content: 'Noon.' },
      done: true,
      done_reason: 'stop',
      total_duration: expect.any(Number),
      load_duration: 0,
      prompt_eval_count: 12,
      prompt_eval_duration: 0,
      eval_count: 3,
      eval_duration: expect.any(Number),
    })
    expect(other.requests.at(-1)?.body).toEqual({
      model: 'gpt-4o',
      messages,
      max_completion_tokens: 9,
      temperature: 0,
    })
  })

  test('streams lines unless stream is false, with the counts in the last one', async () => {
    other.script(streamedCompletion('No', 'on', '.'))
    const answer = await post({})
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = await readLines(answer)
    expect(lines.map(({ message }) => message.content)).toEqual(['No', 'on', '.', ''])
    expect(lines.map(({ done }) => done)).toEqual([false, false, false, true])
    expect(lines.at(-1)).toMatchObject({ done_reason: 'stop', prompt_eval_count: 12, eval_count: 3 })
  })

  test('calls a tool, plain and streamed, and assigns its result to the call without an id', async () => {
    other.script(completion('', called({ tool_calls: [call] }, 'tool_calls')))
    const plain = (await (await post({ stream: false, tools })).json()) as any
    const asked = { id: 'call_1', function: { index: 0, name: 'now', arguments: { tz: 'UTC' } } }
    expect(plain.message).toEqual({ role: 'assistant', content: '', tool_calls: [asked] })
    const piece = (fields: object) => chunk({ tool_calls: [{ index: 0, ...fields }] })
    other.script(
      stream(
        piece({ ...call, function: { name: 'now', arguments: '' } }),
        piece({ function: { arguments: '{"tz":' } }),
        piece({ function: { arguments: '"UTC"}' } }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ),
    )
    const [line, last] = await readLines(await post({ tools }))
    expect(line.message).toEqual(plain.message)
    expect(last).toMatchObject({ done: true, message: { content: '' } })
    other.script(completion('Noon.'))
    const { id: _, ...withoutId } = asked
    await post({
      stream: false,
      tools,
      messages: [
        ...messages,
        { ...plain.message, tool_calls: [withoutId] },
        { role: 'tool', tool_name: 'now', content: '12:00' },
      ],
    })
    const sent = other.requests.at(-1)?.body.messages as any[]
    expect(sent[1].tool_calls[0].function).toEqual({ name: 'now', arguments: '{"tz":"UTC"}' })
    expect(sent[2]).toEqual({
      role: 'tool',
      tool_call_id: sent[1].tool_calls[0].id,
      content: '12:00',
    })
  })

  test('sends a schema, an image and thinking', async () => {
    other.script(completion('', called({ content: '{"a":1}', reasoning_content: 'Hm.' }, 'stop')))
    const schema = { type: 'object', properties: { a: { type: 'integer' } } }
    const image = 'iVBORw0KGgo='
    const answer = await post({
      stream: false,
      format: schema,
      think: false,
      messages: [{ role: 'user', content: 'What?', images: [image] }],
    })
    expect(((await answer.json()) as any).message).toEqual({
      role: 'assistant',
      content: '{"a":1}',
      thinking: 'Hm.',
    })
    const { body } = other.requests.at(-1) as { body: any }
    expect(body.response_format.json_schema.schema).toEqual(schema)
    expect(body.messages[0].content[1]).toEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${image}` },
    })
    // A model that cannot think does not think anyway.
    expect(body).not.toHaveProperty('reasoning_effort')
  })

  test('ends a failed stream with the error as its last line', async () => {
    other.script(cutStream(chunk({ role: 'assistant', content: 'No' })))
    const answer = await post({})
    expect(answer.status).toBe(200)
    const lines = await readLines(answer)
    expect(lines[0].message.content).toBe('No')
    expect(lines.at(-1)).toMatchObject({ error: expect.any(String), code: 'stream_interrupted' })
    const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ error_code: 'stream_interrupted', surface: 'ollama' })
  })
})

describe('a model of the same format', () => {
  const answerOf = (content: string, end: object = {}): object => ({
    model: 'qwen3:8b',
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', content },
    done: false,
    ...end,
  })
  const END = { done: true, done_reason: 'stop', total_duration: 7, prompt_eval_count: 10, eval_count: 2 }
  const fields = {
    model: SAME,
    think: 'high',
    keep_alive: '5m',
    options: { top_k: 3, num_gpu: 1, num_predict: 9 },
  }

  test("receives the caller's fields, and its answer is passed on unchanged, plain and streamed", async () => {
    same.script(json(200, answerOf('Noon.', END)))
    const answer = await post({ ...fields, stream: false })
    expect(await answer.json()).toEqual(answerOf('Noon.', END))
    expect(same.requests.at(-1)).toMatchObject({
      path: '/api/chat',
      body: { ...fields, model: 'qwen3:8b', messages, stream: false },
    })
    const lines = [answerOf('No'), answerOf('on.'), answerOf('', END)]
    same.script(stream(...lines.map(line => `${JSON.stringify(line)}\n`)))
    const streamed = await post(fields)
    expect(await readLines(streamed)).toEqual(lines)
    const log = await app.findLog(streamed.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ usage: { input_tokens: 10, output_tokens: 2 } })
  })

  test('refuses server options from a client token', async () => {
    const key = await makePlaygroundToken(app)
    same.script(json(200, answerOf('Noon.', END)))
    for (const [given, param] of [
      [{ keep_alive: -1 }, 'keep_alive'],
      [{ options: { num_ctx: 1_000_000 } }, 'options.num_ctx'],
    ] as const) {
      const refused = await post({ model: SAME, ...given }, { key })
      expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_request', param }])
    }
    expect((await post({ model: SAME, stream: false, options: { top_k: 3 } }, { key })).status).toBe(200)
  })
})

describe('refuses what callers may not set', () => {
  test.each<[object, string]>([
    [{ template: 'x' }, 'template'],
    [{ raw: true }, 'raw'],
    [{ n: 2 }, 'n'],
    [{ models: ['x'] }, 'models'],
    [{ somethingNew: 1 }, 'somethingNew'],
    [{ options: { somethingNew: 1 } }, 'options.somethingNew'],
    [{ options: { max_tokens: 1 } }, 'options.max_tokens'],
    [{ options: { num_predict: 1.5 } }, 'options.num_predict'],
    [{ messages: [{ role: 'user', content: 'x', file_id: 'f' }] }, 'messages[0].file_id'],
    [{ messages: [{ role: 'user', images: ['JVBERi0='] }] }, 'messages[0].images[0]'],
    [{ messages: [{ role: 'nobody', content: 'x' }] }, 'messages[0].role'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ format: 'xml' }, 'format'],
  ])('%j', async (fields, param) => {
    const before = same.requests.length
    const answer = await post({ model: SAME, ...fields })
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: expect.any(String), code: 'invalid_request', param },
    ])
    expect(same.requests.length).toBe(before)
  })

  test.each<[object, string]>([[{ logprobs: true }, 'logprobs']])(
    'with a model of another format: %j',
    async (fields, param) => {
      expect(await (await post(fields)).json()).toMatchObject({ code: 'invalid_request', param })
    },
  )

  test.each<[object, string]>([
    [{ options: { top_k: 3 } }, 'options.top_k'],
    [{ options: { mirostat: 1 } }, 'options.mirostat'],
  ])('leaves out what only steers sampling: %j with a model of another format', async (fields, param) => {
    other.script(completion('Noon.'))
    const answer = await post({ stream: false, ...fields })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, param])
  })
})

describe('other routes', () => {
  const get = async (path: string, options = {}): Promise<any> =>
    (
      await fetch(`${app.gatewayUrl}/ollama/api/${path}`, {
        headers: { authorization: `Bearer ${app.secretKey}` },
        ...options,
      })
    ).json()

  test('list the models that the key may call, with their capabilities', async () => {
    const { models } = await get('tags')
    expect(models).toContainEqual(
      expect.objectContaining({ name: OTHER, model: OTHER, details: expect.any(Object) }),
    )
    const shown = await (await app.call('/ollama/api/show', { model: OTHER })).json()
    expect(shown).toMatchObject({
      capabilities: expect.arrayContaining(['completion', 'tools', 'vision']),
      model_info: { 'rideau.context_length': expect.any(Number) },
    })
    expect(await (await app.call('/ollama/api/show', { model: 'nobody/x' })).json()).toMatchObject({
      code: 'model_not_found',
    })
    expect(await get('version')).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
    expect(await get('ps')).toEqual({ models: [] })
  })

  test("report failures in Ollama's shape with the gateway's code, also on unknown paths", async () => {
    expect(await get('nothing')).toMatchObject({ error: expect.any(String), code: 'route_not_found' })
    expect(await get('tags', { headers: {} })).toMatchObject({
      error: expect.any(String),
      code: 'unauthenticated',
      request_id: expect.any(String),
      doc_url: expect.stringContaining('/docs/errors#unauthenticated'),
    })
  })
})
