import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json, type UpstreamAnswer } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'
import { toStreamRequest } from '../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'
import type { ProviderAnswer } from '../../testing/harness/provider-answer.ts'
import { PROVIDER_ANSWERS } from '../../testing/harness/provider-answers.ts'
import { SERVED_STREAMS, type ServedAnswer } from '../../testing/harness/served-answers.ts'
import { RequestContext } from '../request/request-context.ts'

/** What a caller of each format gets while its provider is silent, and after that. */

const COMMENT = ': keep-alive\n\n'
const PING = 'event: ping\ndata: {"type": "ping"}\n\n'
/** A frame of AWS: an event named `ping`, whose payload is an empty object. */
const FRAME = Buffer.from(
  'AAAAXAAAAEoOyFUtCzpldmVudC10eXBlBwAEcGluZw06Y29udGVudC10eXBlBwAQYXBwbGljYXRpb24vanNvbg06' +
    'bWVzc2FnZS10eXBlBwAFZXZlbnR7fVHFpv0=',
  'base64',
).toString('latin1')
/** What comes in a silence, first and later. */
const KEEP_ALIVES: Readonly<Record<string, string | readonly [first: string, later: string]>> = {
  native: COMMENT,
  'openai-chat': COMMENT,
  'openai-responses': COMMENT,
  'anthropic-messages': PING,
  'gemini-content': ['data: ', ' '],
  'gemini-list': ' ',
  'bedrock-converse': FRAME,
  'bedrock-invoke': FRAME,
  'cohere-v2': ': keep-alive\n',
  'ollama-chat': ' ',
}

let harness: FormatHarness
/** The request that arrived last. */
let latest: RequestContext
let tickLatest: (now: number) => void

beforeAll(async () => {
  harness = await openFormatHarness(({ ticker }) => {
    const { add } = ticker
    ticker.add = entry => {
      add(entry)
      if (!(entry instanceof RequestContext)) return
      latest = entry
      // Only the test tells the time.
      const { tick } = entry
      tickLatest = now => tick.call(entry, now)
      entry.tick = () => {}
    }
  })
  const { app } = harness
  const targets = [{ model: 'groq/llama-3.3-70b-versatile', max_retries: 0 }, { model: 'sandbox/echo' }]
  const body = { alias: 'either', strategy: 'priority', targets }
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, body)
  if (made.status !== 201) throw new Error(`no alias: ${made.status}`)
})

afterAll(async () => {
  await harness.close()
})

/** A request whose provider has received it and is silent. */
interface Silence {
  readonly answer: Promise<Response>
  readonly res: ServerResponse
  fail(how: UpstreamAnswer): void | Promise<void>
  /** Acts as if so many seconds had passed since the request arrived. */
  pass(seconds: number): void
}

async function ask(surface: string, model: string): Promise<Silence> {
  const { app, upstream } = harness
  const arrived = new Promise<Parameters<UpstreamAnswer>>(resolve =>
    upstream.script((...request) => resolve(request)),
  )
  const { route, body } = toStreamRequest(surface, model)
  const answer = app.call(route, body)
  const [res, seen] = await arrived
  const [{ startedAt }, tick] = [latest, tickLatest]
  return {
    answer,
    res,
    fail: how => how(res, seen),
    pass: seconds => tick(startedAt + seconds * 1_000),
  }
}

/** Reads an answer piece by piece. */
function openReader(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const read: Uint8Array[] = []
  const next = async (): Promise<string> => {
    const { value, done } = await reader.read()
    if (done) return ''
    read.push(value)
    return Buffer.from(value).toString('latin1')
  }
  return {
    next,
    async until(mark: string): Promise<void> {
      while (!Buffer.concat(read).includes(mark)) await next()
    },
    async rest(): Promise<Buffer> {
      while ((await next()) !== '');
      return Buffer.concat(read)
    },
  }
}

/** How a piece of text begins in a frame of AWS. */
const INVOKED = Buffer.from('{"type":"content_block_delta"').toString('base64').slice(0, 36)
const TEXTS = ['Hello, ', 'Zoë 😀']

function toFrames(format: string): ProviderAnswer {
  return PROVIDER_ANSWERS[format]?.({ texts: TEXTS, finish: 'stop' }) as ProviderAnswer
}

const read = (surface: string, bytes: Buffer): ServedAnswer =>
  (SERVED_STREAMS[surface] as (bytes: Buffer) => ServedAnswer)(bytes)

const refusal = json(400, { error: { message: 'no', type: 'invalid_request_error' } })
const overload = json(503, {})

describe.each(Object.entries(KEEP_ALIVES))('a caller of %s', (surface, keepAlives) => {
  const [keepAlive, later] = typeof keepAlives === 'string' ? [keepAlives, keepAlives] : keepAlives
  const formats = [...new Set(['openai-chat', surface])].filter(format => format in FORMAT_TARGETS)

  test.each(formats)('gets signs of life before and within a stream of %s, and all of it', async format => {
    const { answer, res, pass } = await ask(surface, FORMAT_TARGETS[format]?.[0] ?? '')
    // Nothing goes out before 15 s, so that a failure still has a status.
    pass(14.9)
    expect(latest.res.headersSent).toBe(false)
    pass(15.1)
    const response = await answer
    expect(response.status).toBe(200)
    const reader = openReader(response)
    expect(await reader.next()).toBe(keepAlive)
    pass(29)
    pass(30.2)
    expect(await reader.next()).toBe(later)
    pass(46)
    expect(await reader.next()).toBe(later)
    const { contentType, frames } = toFrames(format)
    const first = frames.findIndex(({ parts }) => parts.includes('text')) + 1
    res.writeHead(200, { 'content-type': contentType })
    for (const { bytes } of frames.slice(0, first)) res.write(bytes)
    await reader.until(surface === 'bedrock-invoke' ? INVOKED : 'Hello,')
    pass(61.5)
    pass(77)
    expect(await reader.next()).toBe(keepAlive)
    for (const { bytes } of frames.slice(first)) res.write(bytes)
    res.end()
    expect(read(surface, await reader.rest())).toMatchObject({
      text: TEXTS.join(''),
      finish: expect.any(String),
      code: undefined,
    })
  })

  test('gets a failure before the first sign of life with its status, and one after it in the stream', async () => {
    const [model] = FORMAT_TARGETS['openai-chat'] as (typeof FORMAT_TARGETS)[string]
    const early = await ask(surface, model)
    early.pass(14.9)
    await early.fail(refusal)
    const refused = await early.answer
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('provider_rejected'),
    ])
    const late = await ask(surface, model)
    late.pass(15.1)
    const response = await late.answer
    const reader = openReader(response)
    expect(await reader.next()).toBe(keepAlive)
    await late.fail(refusal)
    expect([response.status, read(surface, await reader.rest())]).toMatchObject([
      200,
      { text: '', finish: undefined, code: 'provider_rejected' },
    ])
  })

  test('gets the answer of the next target behind a sign of life', async () => {
    const { answer, fail, pass } = await ask(surface, 'either')
    pass(15.1)
    const reader = openReader(await answer)
    expect(await reader.next()).toBe(keepAlive)
    await fail(overload)
    const { finish, code } = read(surface, await reader.rest())
    expect([finish, code]).toEqual([expect.any(String), undefined])
  })
})
