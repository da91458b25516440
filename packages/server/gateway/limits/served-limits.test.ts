import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chunk, DONE, stream, usageChunk } from '../../testing/fakes/scripted-upstream.ts'
import { findErrorCode } from '../../testing/harness/error-code.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../testing/harness/limited-app.ts'

let limited: LimitedApp

beforeAll(async () => {
  limited = await openLimitedApp()
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const messages = [{ role: 'user', content: 'hi' }]
const gemini = (model: string, query: string): string =>
  `/gemini/v1beta/models/${model}:streamGenerateContent${query}`
const parseEvents = (text: string): any[] =>
  text
    .split('\r\n\r\n')
    .filter(frame => frame.startsWith('data: '))
    .map(frame => JSON.parse(frame.slice(6)))
const parseLines = (text: string): any[] =>
  text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

/** How each kind of stream is requested and read, and how it reports that it was cut. */
interface Form {
  readonly form: string
  ask(model: string): [route: string, body: object]
  parse(text: string): any[]
  readonly cut: object
}

const FORMS: readonly Form[] = [
  {
    form: 'events',
    ask: (model: string) => [gemini(model, '?alt=sse'), { contents }],
    parse: parseEvents,
    cut: {
      candidates: [{ finishReason: 'MAX_TOKENS', finishMessage: expect.stringMatching(/^budget_exceeded/) }],
    },
  },
  {
    form: 'a list',
    ask: (model: string) => [gemini(model, ''), { contents }],
    parse: (text: string): any[] => JSON.parse(text),
    cut: {
      candidates: [{ finishReason: 'MAX_TOKENS', finishMessage: expect.stringMatching(/^budget_exceeded/) }],
    },
  },
  {
    form: 'lines',
    ask: (model: string) => ['/ollama/api/chat', { model, messages }],
    parse: parseLines,
    cut: { done: true, done_reason: 'length', note: expect.stringMatching(/^budget_exceeded/) },
  },
]

describe.each(FORMS)('a stream as $form', ({ ask, parse, cut }) => {
  test('ends within a budget, reports it, and costs nothing above it', async () => {
    const { key, budget } = await limited.freshKey(0.0515)
    const chunks = Array.from({ length: 3000 }, () => chunk({ content: 'word' }))
    limited.upstream.script(stream(...chunks, chunk({}, 'stop'), usageChunk(), DONE))
    const response = await limited.app.call(...ask(PRICED), { key })
    expect(response.status).toBe(200)
    const pieces = parse(await response.text())
    expect(pieces.at(-1)).toMatchObject(cut)
    const { spent_usd, reserved_usd } = await budget()
    expect(reserved_usd).toBe(0)
    expect(spent_usd).toBeLessThanOrEqual(0.0515)
    expect(spent_usd).toBeGreaterThan(0.05)
  })

  test("ends at once after a cancel, together with the provider's stream", async () => {
    const { key } = await limited.freshKey(100)
    limited.upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'word' }))
    })
    const requestId = crypto.randomUUID()
    const response = await limited.app.call(...ask(PRICED), {
      key,
      headers: { 'x-request-id': requestId },
    })
    const canceled = await limited.app.call(`/v1/requests/${requestId}/cancel`, {}, { key })
    expect(await canceled.json()).toMatchObject({ canceled: true })
    const pieces = parse(await response.text())
    expect(findErrorCode(pieces.at(-1))).toBe('request_canceled')
    await limited.upstream.requests.at(-1)?.closed
    const log = await limited.app.findLog(requestId)
    expect(log).toMatchObject({ error_code: 'request_canceled' })
  })

  test('ends at the provider too if its caller disconnects', async () => {
    const { key } = await limited.freshKey(100)
    limited.upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'word' }))
    })
    const requestId = crypto.randomUUID()
    const [route, body] = ask(PRICED)
    const leaving = new AbortController()
    const response = await fetch(limited.app.gatewayUrl + route, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-request-id': requestId,
      },
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    await limited.upstream.requests.at(-1)?.closed
    expect(await limited.app.findLog(requestId)).toMatchObject({ error_code: 'request_canceled' })
  })

  test('is refused with 402 if the budget is exhausted', async () => {
    const { key } = await limited.freshKey(0)
    const response = await limited.app.call(...ask(PRICED), { key })
    expect([response.status, findErrorCode(await response.json())]).toEqual([402, 'budget_exceeded'])
  })
})
