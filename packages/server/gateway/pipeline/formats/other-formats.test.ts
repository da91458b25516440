import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  cutStream,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  type UpstreamAnswer,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** Chat with providers that have formats of their own. */

const messages = [{ role: 'user', content: 'Weather in Paris?' }]
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]
const COMMAND = 'cohere/command-a-03-2025'
const LOCAL = 'ollama/qwen3:8b'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('cohere', { api_key: 'co-key', base_url: upstream.baseUrl })
  await app.addCredential('ollama', { base_url: upstream.baseUrl, options: { num_ctx: '16384' } })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const frame = (event: Record<string, unknown>): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const lines =
  (...all: object[]): UpstreamAnswer =>
  res => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' })
    res.end(all.map(line => `${JSON.stringify(line)}\n`).join(''))
  }

/** Returns the text of a streamed answer and how it ended. */
async function readStream(response: Response) {
  const text = await response.text()
  const frames = text
    .split('\n\n')
    .filter(block => block.startsWith('data: {'))
    .map(block => JSON.parse(block.slice(6)))
  const deltas = frames.flatMap(each => each.choices ?? []).map((choice: any) => choice.delta)
  return {
    text,
    last: frames.at(-1),
    content: deltas.map(({ content }) => content ?? '').join(''),
    calls: deltas.flatMap(({ tool_calls }) => tool_calls ?? []),
    finish: frames.flatMap(each => each.choices ?? []).findLast((choice: any) => choice.finish_reason)
      ?.finish_reason,
  }
}

const streamed = async (model: string) =>
  readStream(await app.call('/v1/chat', { model, messages, tools, stream: true }))

describe('cohere', () => {
  const usage = {
    billed_units: { input_tokens: 7, output_tokens: 3 },
    tokens: { input_tokens: 500, output_tokens: 5 },
  }

  test('translates a plain answer both ways and bills the billed units', async () => {
    const message = {
      role: 'assistant',
      tool_plan: 'I look.',
      tool_calls: [{ id: 'w1', type: 'function', function: { name: 'weather', arguments: 'null' } }],
    }
    upstream.script(json(200, { id: 'a', message, finish_reason: 'TOOL_CALL', usage }))
    const response = await app.call('/v1/chat', {
      model: COMMAND,
      messages,
      tools,
      tool_choice: 'required',
    })
    expect(await response.json()).toMatchObject({
      provider: 'cohere',
      choices: [
        {
          message: {
            reasoning: 'I look.',
            tool_calls: [{ id: 'w1', function: { name: 'weather', arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { input_tokens: 7, output_tokens: 3 },
    })
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/chat')
    expect(seen?.headers.authorization).toBe('Bearer co-key')
    expect(seen?.body).toMatchObject({ model: 'command-a-03-2025', messages, tool_choice: 'REQUIRED' })
  })

  test('translates a stream and reports an error within it', async () => {
    const text = (content: string): string =>
      frame({ type: 'content-delta', index: 0, delta: { message: { content: { text: content } } } })
    upstream.script(
      stream(
        frame({ type: 'message-start', id: 'a', delta: { message: { role: 'assistant' } } }),
        text('Sun'),
        text('ny.'),
        frame({ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } }),
        'data: [DONE]\n\n',
      ),
    )
    const good = await streamed(COMMAND)
    expect(good).toMatchObject({
      content: 'Sunny.',
      finish: 'stop',
      last: { usage: { input_tokens: 7, output_tokens: 3 } },
    })
    expect(good.text.endsWith('data: [DONE]\n\n')).toBe(true)

    upstream.script(
      stream(
        text('Half'),
        frame({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'secret words' } }),
      ),
    )
    const broken = await streamed(COMMAND)
    expect(broken.text).toContain('stream_interrupted')
    expect(broken.text).not.toContain('secret words')
    expect(broken.text).not.toContain('[DONE]')
  })

  test('reports a prompt that is too long as such', async () => {
    upstream.script(
      json(400, { id: 'a', error_type: 'TOO_MANY_TOKENS', message: 'too many tokens: size limit exceeded' }),
    )
    const response = await app.call('/v1/chat', { model: COMMAND, messages })
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([
      400,
      'context_length_exceeded',
    ])
  })
})

describe('ollama', () => {
  const counts = { done: true, done_reason: 'stop', prompt_eval_count: 11, eval_count: 4 }
  const piece = (message: object, rest: object = { done: false }) => ({
    model: 'qwen3:8b',
    created_at: 't',
    message,
    ...rest,
  })
  const call = { function: { name: 'weather', arguments: { city: 'Paris' } } }

  test('uses the native route next to /v1, with the context length of the credential', async () => {
    upstream.script(
      json(200, piece({ role: 'assistant', content: '', thinking: 'Hm', tool_calls: [call] }, counts)),
    )
    const response = await app.call('/openai/v1/chat/completions', {
      model: LOCAL,
      messages,
      tools,
      max_tokens: 20,
    })
    expect(await response.json()).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [
              { id: expect.any(String), function: { name: 'weather', arguments: '{"city":"Paris"}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 },
    })
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/api/chat')
    expect(seen?.headers.authorization).toBeUndefined()
    expect(seen?.body).toMatchObject({
      model: 'qwen3:8b',
      stream: false,
      options: { num_ctx: 16_384, num_predict: 20 },
    })
  })

  test('translates streamed lines and whole calls; an error line or a broken stream ends with an error', async () => {
    upstream.script(
      lines(
        piece({ content: 'Let me see.' }),
        piece({ content: '', tool_calls: [call] }),
        piece({ content: '' }, counts),
      ),
    )
    const good = await streamed(LOCAL)
    expect(good).toMatchObject({
      content: 'Let me see.',
      finish: 'tool_calls',
      last: { usage: { input_tokens: 11, output_tokens: 4 } },
    })
    expect(good.calls).toMatchObject([
      { index: 0, function: { name: 'weather', arguments: '{"city":"Paris"}' } },
    ])

    upstream.script(lines(piece({ content: 'Half' }), { error: 'secret words' }))
    const broken = await streamed(LOCAL)
    expect(broken.text).toContain('stream_interrupted')
    expect(broken.text).not.toContain('secret words')

    upstream.script(cutStream(`${JSON.stringify(piece({ content: 'Half' }))}\n{"mess`))
    expect((await streamed(LOCAL)).text).toContain('stream_interrupted')
  })

  test('fails the attempt on an error before the first line', async () => {
    upstream.script(json(404, { error: "model 'qwen3:8b' not found" }))
    const response = await app.call('/v1/chat', { model: LOCAL, messages, stream: true })
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([404, 'model_not_found'])
  })
})
