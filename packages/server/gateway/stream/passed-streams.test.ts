import { encodeAwsEvent } from '@rideau/llm/frames/aws-event-frame'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { chunk, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** Streams between a caller and a provider of the same format, without log capture: most bytes pass undecoded. */
let app: TestApp
let upstream: ScriptedUpstream
let key: string

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  const { productionId } = app
  await app.addCredential('gemini', { api_key: 'AIza', base_url: upstream.baseUrl }, productionId)
  await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl }, productionId)
  const region = { region: 'us-east-1' }
  await app.addCredential(
    'bedrock',
    { api_key: 'bedrock-key', base_url: upstream.baseUrl, options: region },
    productionId,
  )
  key = (await app.createKey({}, productionId)).key
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

/** Writes each frame separately, then ends the answer or breaks the connection. */
function script(type: string, frames: readonly (string | Uint8Array)[], isCut: boolean): void {
  upstream.script(async res => {
    res.writeHead(200, { 'content-type': type })
    for (const frame of frames) {
      await new Promise<void>(written => res.write(frame, () => setImmediate(written)))
    }
    if (isCut) res.destroy()
    else res.end()
  })
}

const usage = (output: number): object => ({
  promptTokenCount: 10,
  candidatesTokenCount: output,
  totalTokenCount: 10 + output,
})
const geminiEvent = (text: string, output: number, finishReason?: string): string => {
  const candidate = { content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }
  return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata: usage(output) })}\r\n\r\n`
}
const GEMINI = '/gemini/v1beta/models/gemini/gemini-2.5-flash:streamGenerateContent?alt=sse'
const GEMINI_BODY = { contents: [{ role: 'user', parts: [{ text: 'Count.' }] }] }

const event = (type: string, body: object): Buffer => Buffer.from(encodeAwsEvent(type, body as never))
const CONVERSE = [
  event('messageStart', { role: 'assistant' }),
  ...['One, ', 'two, ', 'three.'].map(text =>
    event('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
  ),
  event('contentBlockStop', { contentBlockIndex: 0 }),
  event('messageStop', { stopReason: 'end_turn' }),
  event('metadata', {
    usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12 },
    metrics: { latencyMs: 3 },
  }),
]
const CONVERSE_BODY = { messages: [{ role: 'user', content: [{ text: 'Count.' }] }] }

beforeEach(() => {
  upstream.script(() => {
    throw new Error('no answer was scripted')
  })
})

test("Gemini: passes every byte and bills the last event's usage", async () => {
  const frames = [geminiEvent('One, ', 2), geminiEvent('two, ', 4), geminiEvent('three.', 6, 'STOP')]
  script('text/event-stream', frames, false)
  const answer = await app.call(GEMINI, GEMINI_BODY, { key })
  expect(await answer.text()).toBe(frames.join(''))
  const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
  expect(log).toMatchObject({ usage: { input_tokens: 10, output_tokens: 6 }, usage_estimated: false })
})

test('Gemini: begins whatever it sends with the start of an event, which a keep-alive may have sent', async () => {
  const [first, last] = [geminiEvent('One, ', 2), geminiEvent('two.', 4, 'STOP')]
  script('text/event-stream', [`: a comment\r\n\r\n${first}`, `\r\n${first}`, last], false)
  const answer = await app.call(GEMINI, GEMINI_BODY, { key })
  expect(await answer.text()).toBe(first + first + last)
})

test('Gemini: bills a broken stream by its last event, which passed undecoded', async () => {
  script('text/event-stream', [geminiEvent('One, ', 2), geminiEvent('two, ', 40)], true)
  const answer = await app.call(GEMINI, GEMINI_BODY, { key })
  expect(await answer.text()).toContain('stream_interrupted')
  const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
  expect(log).toMatchObject({
    error_code: 'stream_interrupted',
    usage: { input_tokens: 10, output_tokens: 40 },
  })
})

test('Converse: passes every frame and reads the usage', async () => {
  script('application/vnd.amazon.eventstream', CONVERSE, false)
  const answer = await app.call(
    '/bedrock/model/bedrock%2Famazon.nova-pro-v1:0/converse-stream',
    CONVERSE_BODY,
    {
      key,
    },
  )
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.concat(CONVERSE))
  const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
  expect(log).toMatchObject({ finish_reason: 'stop', usage: { input_tokens: 7, output_tokens: 5 } })
})

test('Converse: ends a broken stream with an exception and bills the delivered tokens', async () => {
  script('application/vnd.amazon.eventstream', CONVERSE.slice(0, 4), true)
  const answer = await app.call(
    '/bedrock/model/bedrock%2Famazon.nova-pro-v1:0/converse-stream',
    CONVERSE_BODY,
    {
      key,
    },
  )
  expect(Buffer.from(await answer.arrayBuffer()).toString('latin1')).toContain('stream_interrupted')
  const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
  expect(log).toMatchObject({ error_code: 'stream_interrupted', usage_estimated: true })
  // Three events of one token or a little more. Most of their bytes are framing and must not count.
  expect(log.usage.output_tokens).toBeGreaterThanOrEqual(3)
  expect(log.usage.output_tokens).toBeLessThan(20)
})

const calls = (args: string, start = {}): string =>
  chunk({ tool_calls: [{ index: 0, ...start, function: { arguments: args } }] })
const START = { id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }

test.each([
  ['calls', [calls('', START), calls('{"a":'), calls('1}')], 'tool_calls', 'tool_calls'],
  ['calls, which the provider ends with `stop`', [calls('', START), calls('{}')], 'stop', 'tool_calls'],
  [
    'calls in the older field',
    [chunk({ function_call: { name: 'f', arguments: '{}' } })],
    'function_call',
    'tool_calls',
  ],
  [
    'no calls, which the provider ends with `tool_calls`',
    [chunk({ content: ' there' })],
    'tool_calls',
    'stop',
  ],
  [
    'empty lists of calls, and the name in a text',
    [chunk({ content: '"tool_calls":[{', tool_calls: [] }), chunk({ content: '!', tool_calls: null })],
    'stop',
    'stop',
  ],
])(
  'OpenAI: records how a stream ended whose events pass after a text: %s',
  async (_, passed, sent, recorded) => {
    const finish = chunk({}, sent)
    const frames = [
      chunk({ role: 'assistant', content: 'Hello' }),
      chunk({ content: ',' }),
      ...passed,
      finish,
    ]
    script('text/event-stream', [...frames, 'data: [DONE]\n\n'], false)
    const body = { model: 'custom/m', stream: true, messages: [{ role: 'user', content: 'hi' }] }
    const answer = await app.call('/openai/v1/chat/completions', body, { key })
    expect(await answer.text()).toContain(`"finish_reason":"${sent}"`)
    const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
    expect(log.finish_reason).toBe(recorded)
  },
)
