import { openAwsEventStreamParser } from '@rideau/llm/frames/aws-event-stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  json,
  type ScriptedUpstream,
  stream,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp, PRICED } from '../../../testing/harness/limited-app.ts'

/** What every served format guarantees its callers, tested with Cohere's and Converse's. */

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
  for (const provider of ['openai', 'cohere', 'bedrock']) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    await app.addCredential(provider, { api_key: 'k', base_url: upstream.baseUrl, ...options })
  }
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

interface RequestCase {
  readonly model?: string
  readonly stream?: boolean
  readonly cap?: number
  readonly text?: string
  readonly topP?: number
  readonly effort?: boolean
  readonly extra?: object
}

interface Format {
  readonly name: string
  /** A model whose provider uses the same format. */
  readonly own: string
  /** A model of another format that does not reason. */
  readonly plain: string
  /** The format's spelling of `top_p`. */
  readonly topP: string
  toRequest(asked: RequestCase): [route: string, body: object]
  /** Returns the text, the stop reason, the types of all events, and the code of a failure. */
  read(bytes: Buffer): { text: string; stop: unknown; types: string[]; code?: unknown }
}

const COHERE: Format = {
  name: 'Cohere',
  own: 'cohere/command-a-03-2025',
  plain: 'bedrock/us.amazon.nova-lite-v1:0',
  topP: 'p',
  toRequest: ({ model = PRICED, stream: isStream = false, cap, text = 'hi', topP, effort, extra }) => [
    '/cohere/v2/chat',
    {
      model,
      stream: isStream,
      messages: [{ role: 'user', content: text }],
      ...(cap === undefined ? {} : { max_tokens: cap }),
      ...(topP === undefined ? {} : { p: topP }),
      ...(effort === undefined ? {} : { thinking: { type: 'enabled' } }),
      ...extra,
    },
  ],
  read: bytes => {
    const events = bytes
      .toString('utf8')
      .split('\n\n')
      .filter(block => block.includes('data: {'))
      .map(block => JSON.parse(block.slice(block.indexOf('data: ') + 6)))
    const last = events.at(-1)
    return {
      text: events.map(({ delta }) => delta?.message?.content?.text ?? '').join(''),
      stop: last?.delta.finish_reason,
      types: events.map(({ type }) => type),
      code: last?.delta.code,
    }
  },
}

const CONVERSE: Format = {
  name: 'Converse',
  own: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  plain: 'cohere/command-a-03-2025',
  topP: 'inferenceConfig.topP',
  toRequest: ({ model = PRICED, stream: isStream = false, cap, text = 'hi', topP, effort, extra }) => [
    `/bedrock/model/${encodeURIComponent(model)}/converse${isStream ? '-stream' : ''}`,
    {
      messages: [{ role: 'user', content: [{ text }] }],
      ...(cap === undefined && topP === undefined ? {} : { inferenceConfig: { maxTokens: cap, topP } }),
      ...(effort === undefined
        ? {}
        : { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } } }),
      ...extra,
    },
  ],
  read: bytes => {
    const events: { type: string; body: any }[] = []
    const parser = openAwsEventStreamParser(({ event, data }) =>
      events.push({ type: event ?? '', body: JSON.parse(data) }),
    )
    parser.push(bytes)
    parser.end()
    return {
      text: events.map(({ body }) => body.delta?.text ?? '').join(''),
      stop: events.find(({ type }) => type === 'messageStop')?.body.stopReason,
      types: events.map(({ type }) => type),
      code: events.at(-1)?.body.code,
    }
  },
}

describe.each([COHERE, CONVERSE])('a caller of $name', format => {
  const post = (asked: RequestCase, options: { key?: string; headers?: Record<string, string> } = {}) =>
    app.call(...format.toRequest(asked), options)
  const codeOf = async (answer: Response) => {
    const { code, param } = (await answer.json()) as { code?: string; param?: string | null }
    return [answer.status, code, param]
  }

  test('gets a stream that ends within its budget, with the stop reason of an output cap', async () => {
    const { key, budget } = await limited.freshKey(0.06)
    const texts = Array.from({ length: 400 }, () => chunk({ content: 'one two three four five ' }))
    upstream.script(
      stream(chunk({ role: 'assistant', content: '' }), ...texts, chunk({}, 'stop'), usageChunk(), DONE),
    )
    const answer = await post({ stream: true }, { key })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const { text, stop, types } = format.read(bytes)
    expect(text.length).toBeGreaterThan(1000)
    expect(text.length).toBeLessThan(400 * 24)
    expect(['MAX_TOKENS', 'max_tokens']).toContain(stop)
    expect(['message-end', 'metadata']).toContain(types.at(-1))
    // The note gives the reason, in a place that clients skip.
    expect(bytes.toString('latin1')).toContain('budget_exceeded')
    expect((await budget()).spent_usd).toBeLessThanOrEqual(0.06)
    expect((await budget()).reserved_usd).toBe(0)
  })

  test('is refused for an exhausted budget before anything is sent', async () => {
    const { key } = await limited.freshKey(0.001)
    const before = upstream.requests.length
    for (const isStream of [false, true]) {
      const answer = await post({ stream: isStream, cap: 1000 }, { key })
      expect(await codeOf(answer)).toEqual([402, 'budget_exceeded', null])
    }
    expect(upstream.requests.length).toBe(before)
  })

  test("ends the provider's stream and leaves no reservation when it disconnects", async () => {
    const { key, budget } = await limited.freshKey(1)
    let arrived = (): void => {}
    const called = new Promise<void>(resolve => {
      arrived = resolve
    })
    const gone = new Promise<void>(resolve => {
      upstream.script((res, seen) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' })
        res.write(chunk({ content: 'a' }))
        void seen.closed.then(resolve)
        arrived()
      })
    })
    const abort = new AbortController()
    const [route, body] = format.toRequest({ stream: true, cap: 100 })
    const call = fetch(app.gatewayUrl + route, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await called
    await call
    expect((await budget()).reserved_usd).toBeGreaterThan(0)
    abort.abort()
    await gone
    expect(await budget()).toMatchObject({ reserved_usd: 0 })
  })

  test('gets a parameter that only steers left out with a header, whatever the setting', async () => {
    upstream.script(completion('hi'))
    const answer = await post({ model: 'openai/gpt-5', topP: 0.5 })
    expect([answer.status, answer.headers.get('x-rideau-dropped-params')]).toEqual([200, format.topP])
    // A model that does not reason is called without the wish that it does.
    const before = upstream.requests.length
    await post({ model: format.plain, effort: true })
    expect(upstream.requests.length).toBeGreaterThan(before)
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('thinking')
  })

  test('gets an unsupported parameter refused by its own name, or dropped with a header', async () => {
    const fixed = { model: 'openai/gpt-5', topP: 0.5 }
    const unknown = { ...fixed, extra: { novelty: 1 } }
    expect(await codeOf(await post(unknown))).toEqual([400, 'invalid_request', 'novelty'])
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('PATCH', environment, { unsupported_params: 'drop' })
    upstream.script(completion('hi'))
    try {
      const answer = await post(unknown)
      expect(answer.status).toBe(200)
      const dropped = answer.headers.get('x-rideau-dropped-params')?.split(', ')
      expect(dropped?.sort()).toEqual(['novelty', format.topP].sort())
      const sent = upstream.requests.at(-1)?.body
      expect(sent).not.toHaveProperty('top_p')
      expect(sent).not.toHaveProperty('novelty')
    } finally {
      await app.manage('PATCH', environment, { unsupported_params: 'refuse' })
    }
  })

  test("gets an answer of the alias's second target, of another format, if the first fails", async () => {
    const environment = `/v1/environments/${app.developmentId}`
    const alias = `either-${format.name}`
    await limited.make(`${environment}/model-aliases`, {
      alias,
      strategy: 'priority',
      targets: [{ model: format.own, max_retries: 0 }, { model: 'openai/gpt-4.1' }],
    })
    upstream.script(json(503, { message: 'away' }), completion('From another.'))
    const answer = await post({ model: alias })
    expect(answer.headers.get('x-rideau-model')).toBe('openai/gpt-4.1')
    expect(JSON.stringify(await answer.json())).toContain('From another.')
  })

  test('with a client token may not send fields that the gateway does not validate', async () => {
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/playground-token`)
    expect(made.status).toBe(201)
    const token = { key: made.body.token as string }
    upstream.script(completion('hi'))
    expect((await post({ model: 'openai/gpt-4.1' }, token)).status).toBe(200)
    const extra = { novelty: 1 }
    for (const model of [format.own, 'openai/gpt-4.1']) {
      expect(await codeOf(await post({ model, extra }, token))).toEqual([400, 'invalid_request', 'novelty'])
    }
  })

  test('has its documents and long texts counted before anything is sent', async () => {
    const { key } = await limited.freshKey(1)
    await limited.limit('limits', { scope: 'environment', metric: 'tokens', limit: 500, window_seconds: 60 })
    const before = upstream.requests.length
    const long = 'word '.repeat(1000)
    expect((await codeOf(await post({ text: long, cap: 10 }, { key })))[1]).toBe('rate_limit_exceeded')
    if (format === COHERE) {
      const documents = { model: format.own, cap: 10, extra: { documents: [long] } }
      expect((await codeOf(await post(documents, { key })))[1]).toBe('rate_limit_exceeded')
    }
    expect(upstream.requests.length).toBe(before)
  })

  test('names its end user in a header', async () => {
    upstream.script(completion('hi'))
    const answer = await post({}, { headers: { 'x-rideau-end-user': 'somebody' } })
    const log = await app.findLog(answer.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ end_user_id: 'somebody', endpoint: 'chat' })
  })
})

test('sends the cap of a limit to a provider of the same format', async () => {
  const { key } = await limited.freshKey(0.2)
  upstream.script(
    json(200, {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
  )
  const [route, body] = CONVERSE.toRequest({ model: CONVERSE.own })
  expect((await app.call(route, body, { key })).status).toBe(200)
  const { inferenceConfig } = upstream.requests.at(-1)?.body as { inferenceConfig?: { maxTokens?: number } }
  expect(inferenceConfig?.maxTokens).toBeGreaterThan(0)
  expect(inferenceConfig?.maxTokens).toBeLessThan(20_000)
})
