import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chunk, completion, cutStream, DONE, usageChunk } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** A file in the body may hold more text than its bytes show: it reserves the context window, in every format. */

const ANTHROPIC = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 100 }
const OPENAI = { model: 'openai/gpt-4o', max_tokens: 100 }
const HI = { role: 'user', content: 'hi' }
const CHAT = '/openai/v1/chat/completions'
const MESSAGES = '/anthropic/v1/messages'
const RESPONSES = '/openai/v1/responses'
const GEMINI = '/gemini/v1beta/models/gemini-2.5-flash:generateContent'

type Case = [string, string, object]

const by = (role: string, ...content: unknown[]): object => ({ role, content })

const itemsOf = (...input: unknown[]): object => ({ model: 'openai/gpt-5', max_output_tokens: 100, input })
const partsOf = (part: object): object => ({
  contents: [{ role: 'user', parts: [{ text: 'hi' }, part] }],
  generationConfig: { maxOutputTokens: 100 },
})

/** Short, and perhaps of hundreds of pages: its streams are packed, and pages may share one. */
const PDF = Buffer.from(`%PDF-1.7 ${'x'.repeat(3_000)}`).toString('base64')
const PDF_URL = `data:application/pdf;base64,${PDF}`
const FILE_PART = { type: 'file', file: { filename: 'a.pdf', file_data: PDF_URL } }
const BASE64_PDF = { type: 'base64', media_type: 'application/pdf', data: PDF }

const PACKED: Case[] = [
  ['chat completions', CHAT, { ...OPENAI, messages: [by('user', FILE_PART)] }],
  [
    'the place of an image',
    CHAT,
    { ...OPENAI, messages: [by('user', { type: 'image_url', image_url: { url: PDF_URL } })] },
  ],
  ['messages', MESSAGES, { ...ANTHROPIC, messages: [by('user', { type: 'document', source: BASE64_PDF })] }],
  [
    'the result of a tool',
    MESSAGES,
    {
      ...ANTHROPIC,
      messages: [
        HI,
        by('assistant', { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
        by('user', {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'document', source: BASE64_PDF }],
        }),
      ],
    },
  ],
  [
    'responses',
    RESPONSES,
    itemsOf(by('user', { type: 'input_file', filename: 'a.pdf', file_data: PDF_URL })),
  ],
  ['generateContent', GEMINI, partsOf({ inlineData: { mimeType: 'application/pdf', data: PDF } })],
]

/** Blocks that the gateway does not read, and documents that are said to be text. */
const UNREAD_FILES: Case[] = [
  [
    'a page that a tool of the provider fetched',
    MESSAGES,
    {
      ...ANTHROPIC,
      messages: [
        HI,
        by('assistant', {
          type: 'web_fetch_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'web_fetch_result', url: 'a', content: { type: 'document', source: BASE64_PDF } },
        }),
      ],
    },
  ],
  [
    'an unknown part',
    CHAT,
    { ...OPENAI, messages: [by('user', { type: 'document', document: { data: PDF } })] },
  ],
]

let limited: LimitedApp

beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('anthropic', 'openai', 'gemini')
})
afterAll(() => limited.close())

const ask = (route: string, body: object, key: string) => limited.ask(route, body, key)

describe('a key with max_request_cost_usd', () => {
  let key: string
  beforeAll(async () => {
    key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.02 } })).key
  })

  test.each(PACKED)('is refused a PDF in the body with 402, in %s: %s', async (_what, route, body) => {
    expect(await ask(route, body, key)).toMatchObject({ status: 402, wasSent: false })
  })

  test('may send a PDF in the body where the bound pays for the context window', async () => {
    // 128,000 tokens at $2.50 a million.
    const rich = await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.4 } })
    const body = { ...OPENAI, messages: [by('user', FILE_PART)] }
    expect(await ask(CHAT, body, rich.key)).toMatchObject({ wasSent: true })
  })

  test.each(UNREAD_FILES)('is refused %s with 400: %s', async (_what, route, body) => {
    const answer = await ask(route, body, key)
    expect(answer).toMatchObject({ status: 400, wasSent: false })
    expect(answer.text).toContain('adds input that cannot be counted in advance')
  })
})

describe('a budget', () => {
  test.each([...PACKED, ...UNREAD_FILES])(
    'refuses a PDF in the body with 402, in %s: %s',
    async (_what, route, body) => {
      const { key } = await limited.freshKey(0.02)
      expect(await ask(route, body, key)).toMatchObject({ status: 402, wasSent: false })
    },
  )

  test('that pays for the context window is charged for a PDF by the usage only', async () => {
    limited.upstream.script(completion('hi', { usage: { prompt_tokens: 1_000, completion_tokens: 10 } }))
    const { key, budget } = await limited.freshKey(0.4)
    const body = { ...OPENAI, messages: [by('user', FILE_PART)] }
    expect(await ask(CHAT, body, key)).toMatchObject({ status: 200, wasSent: true })
    expect((await budget()).spent_usd).toBeCloseTo(0.0026, 6)
  })

  test('is charged by the usage of a stream whose caller has left', async () => {
    let goOn = (): void => {}
    const left = new Promise<void>(resolve => {
      goOn = resolve
    })
    limited.upstream.script(async res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'hi' }))
      await left
      for (const event of [chunk({}, 'stop'), usageChunk({ prompt_tokens: 1_000, completion_tokens: 10 })])
        res.write(event)
      res.end(DONE)
    })
    const { key, budget } = await limited.freshKey(0.4)
    const caller = new AbortController()
    const response = await fetch(`${limited.app.gatewayUrl}${CHAT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...OPENAI, stream: true, messages: [by('user', FILE_PART)] }),
      signal: caller.signal,
    })
    await response.body?.getReader().read()
    caller.abort()
    await new Promise(resolve => setTimeout(resolve, 300))
    goOn()
    await expect.poll(async () => (await budget()).spent_usd).toBeCloseTo(0.0026, 6)
  })

  test('is charged the window for a stream that ends before its usage comes', async () => {
    limited.upstream.script(cutStream(chunk({ content: 'hi' })))
    const { key, budget } = await limited.freshKey(0.4)
    await ask(CHAT, { ...OPENAI, stream: true, messages: [by('user', FILE_PART)] }, key)
    // 128,000 tokens at $2.50 a million.
    await expect.poll(async () => (await budget()).spent_usd).toBeGreaterThanOrEqual(0.32)
  })
})
