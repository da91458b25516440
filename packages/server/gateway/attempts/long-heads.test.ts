import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageItem, responseFrames } from '../../testing/fakes/scripted-responses.ts'
import {
  chunk,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/**
 * A stream of Responses repeats the request's instructions and tools, twice before its first output and once after the last. One of
 * Anthropic holds what its provider's tool has fetched, a document in one event.
 */

const MiB = 1024 * 1024

let app: TestApp
let upstream: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'custom', 'anthropic'])
    await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

/** The frames of a stream, of which each event with a whole response repeats `instructions`. */
function framesWith(instructions: string): string[] {
  const [created = '', ...others] = responseFrames(messageItem('Good day'))
  const repeat = (frame: string): string =>
    frame.replace('"response":{', () => `"response":{"instructions":${JSON.stringify(instructions)},`)
  const inProgress = created.replaceAll('response.created', 'response.in_progress')
  return [created, inProgress, ...others].map(repeat)
}

async function call(path: string, body: Record<string, unknown>) {
  const before = upstream.requests.length
  const response = await app.call(path, { stream: true, ...body })
  const text = await response.text()
  return { status: response.status, text, calls: upstream.requests.length - before }
}

const respond = (instructions: string) =>
  call('/openai/v1/responses', { model: 'openai/gpt-5', instructions, input: 'Hello' })

test.each([
  ['600 KiB', 'x'.repeat(600 * 1024)],
  ['1.5 MiB', 'x'.repeat(1.5 * MiB)],
  ['3 MiB with other letters and line ends', 'é\n"'.repeat(0.5 * MiB)],
])(
  'opens a stream that repeats instructions of %s, with one attempt, and passes it whole',
  async (_, instructions) => {
    const frames = framesWith(instructions)
    upstream.script(stream(...frames))
    const { status, text, calls } = await respond(instructions)
    expect([status, calls]).toEqual([200, 1])
    expect(text.match(/"type":"response\.(created|in_progress|completed)"/g)).toHaveLength(3)
    expect(text.length).toBeGreaterThan(3 * instructions.length)
    expect(text).not.toContain('stream_interrupted')
  },
)

test('fails a stream whose head is longer than what the request can make it repeat', async () => {
  upstream.script(stream(...framesWith('x'.repeat(900 * 1024))))
  const { status, text } = await respond('Be brief.')
  expect(status).toBe(503)
  expect(text).toContain('provider_unavailable')
})

test('fails an event that is longer than what the request can make it repeat', async () => {
  const [, , ...open] = framesWith('Be brief.')
  upstream.script(stream(...open.slice(0, 2), ...framesWith('x'.repeat(2 * MiB))))
  expect((await respond('Be brief.')).text).toContain('stream_interrupted')
})

test('fails an event of more than 5 MiB, however long the request is', async () => {
  const instructions = 'x'.repeat(5.5 * MiB)
  upstream.script(stream(...framesWith(instructions)))
  expect((await respond(instructions)).status).toBe(503)
})

test('fails a stream of a format that repeats nothing if its head is longer than 1 MiB, however long the request is', async () => {
  const role = chunk({ role: 'assistant', padding: 'x'.repeat(500 * 1024) })
  upstream.script(stream(role, role, role, chunk({ content: 'Hello' })))
  const messages = [{ role: 'user', content: 'x'.repeat(2 * MiB) }]
  const { status } = await call('/openai/v1/chat/completions', { model: 'custom/m', messages })
  expect(status).toBe(503)
})

/** The events of an answer in which the provider has fetched a document of so many characters in base64. */
function fetchedEvents(length: number): string[] {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'A'.repeat(length) }
  const result = {
    type: 'web_fetch_result',
    url: 'https://example.com/a.pdf',
    content: { type: 'document', source },
  }
  const block = { type: 'web_fetch_tool_result', tool_use_id: 'srvtoolu_1', content: result }
  const usage = { input_tokens: 9, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'A report.' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function askForReport(tools: Record<string, string>[]) {
  const messages = [{ role: 'user', content: 'What does the report say?' }]
  const body = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 100, messages, tools }
  return call('/anthropic/v1/messages', body)
}

const WEB_FETCH = { type: 'web_fetch_20250910', name: 'web_fetch' }

test('passes a document of 4 MiB that the provider has fetched, with one attempt', async () => {
  upstream.script(stream(...fetchedEvents(4 * MiB)))
  const { status, text, calls } = await askForReport([WEB_FETCH])
  expect([status, calls]).toEqual([200, 1])
  expect(text).toContain('"message_stop"')
  expect(text.length).toBeGreaterThan(4 * MiB)
})

test.each([
  ['no tool that fetches', 2 * MiB, []],
  ['a document of over 5 MiB', 5.5 * MiB, [WEB_FETCH]],
])('fails an event that is too long: %s', async (_, length, tools) => {
  upstream.script(stream(...fetchedEvents(length)))
  expect((await askForReport(tools)).text).not.toContain('"message_stop"')
})
