import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/** What real clients sent, kept beside the repository; a clone elsewhere has none of it. */
const FILE =
  process.env.RIDEAU_TEST_CLIENT_REQUESTS ??
  new URL('../../../../../../shared/clients/requests.json', import.meta.url).pathname
const CONCURRENCY = 8

type Value = null | boolean | number | string | Value[] | { [name: string]: Value }

interface RecordedRequest {
  readonly client: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Value
}

const requests: readonly RecordedRequest[] = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : []
if (requests.length === 0) console.log(`skipped: 1 test replays what clients sent; ${FILE} is absent`)

/** Features that no part of the gateway offers: the answer is 404. */
const NOT_SERVED: readonly RegExp[] = [
  /^GET \/anthropic\/v1\/(files|messages\/batches)/,
  /^GET \/gemini\/v1(beta)?\/(files|cachedContents)/,
  /^POST \/gemini\/v1(beta)?\/interactions/,
  /^POST \/gemini\/v1beta\/models\/[^/]+:predict/,
  /^POST \/openai\/v1\/moderations/,
  /^GET \/openai\/v1\/responses\/resp_x/,
  /^HEAD \/anthropic\/api\/hello/,
  // A base URL with the version twice: the answer names the right path.
  /^POST \/openai\/v1\/openai\/v1\//,
]

/** What the sandbox does not do, whatever the form: `METHOD path: message`. */
const NOT_IN_SANDBOX: readonly RegExp[] = [
  /^POST \/openai\/v1\/audio\//,
  /^POST \/cohere\/v2\/rerank/,
  /^POST \/openai\/v1\/responses\/compact/,
]

/** Refused on purpose: the client sends it in another form when it reads the answer. */
const ON_PURPOSE: readonly RegExp[] = [/\bthread\b/, /previous_response_id: this model cannot access/]

/**
 * References to texts and calls that the recorded upstream stored: what they said is nowhere in the request, so another model would
 * answer a conversation with holes in it. The message tells the client to send `store: false`. References to what the gateway
 * itself made are followed, and those to reasoning are left out.
 */
const LOST: readonly RegExp[] = [
  /\/openai\/v1\/responses: 400 input\[\d+\]: this model cannot access data stored at another provider; .*`store: false`/,
]
/** Recorded requests with such a reference. */
const LOST_COUNT = 7

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CUT = /…\(\d+ characters\)$/

/** A text that was shortened, as one of the same form: JSON as an empty object, an image as a small one. */
function restore(text: string, name: string): string {
  if (!CUT.test(text)) return text
  const begin = text.replace(CUT, '')
  if (name === 'arguments') return '{}'
  const url = /^data:[^,]*;base64,/.exec(begin)
  if (url !== null) return url[0] + PNG
  if (begin.startsWith('iVBOR')) return PNG
  return /^[A-Za-z0-9+/]{60,}$/.test(begin) ? begin.slice(0, begin.length - (begin.length % 4)) : begin
}

function restoreAll(value: Value, name = ''): Value {
  if (typeof value === 'string') return restore(value, name)
  if (Array.isArray(value)) return value.map(each => restoreAll(each, name))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, restoreAll(each, key)]))
}

/** The sandbox's model for a route. */
function modelFor(path: string): string {
  if (/embed/i.test(path)) return 'sandbox/embed'
  if (path.includes('/images/') || /-image:/.test(path)) return 'sandbox/image'
  return 'sandbox/reasoning'
}

/** The request with a model of the sandbox, in its path or its body. */
function toSandbox({ method, path, body }: RecordedRequest): { path: string; body: Value } {
  const model = modelFor(path)
  const given = restoreAll(body)
  const gemini = /^(\/gemini\/v1(?:beta)?\/(?:models\/)?)[^?]+(:[a-zA-Z]+(?:\?.*)?)$/.exec(path)
  if (gemini !== null) return { path: gemini[1] + model + gemini[2], body: renameModels(given, model) }
  const bedrock = /^(\/bedrock\/model\/)[^/]+(\/.*)$/.exec(path)
  if (bedrock !== null) return { path: bedrock[1] + encodeURIComponent(model) + bedrock[2], body: given }
  if (method === 'GET') {
    return { path: path.replace(/\/models\/.+$/, `/models/${encodeURIComponent('sandbox/echo')}`), body }
  }
  return { path, body: renameModels(given, model) }
}

/** Batches of embeddings name their model in each request. */
function renameModels(body: Value, model: string): Value {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body
  const renamed = { ...body }
  if (typeof body.model === 'string') renamed.model = model
  if (Array.isArray(body.requests)) {
    renamed.requests = body.requests.map(each =>
      each !== null && typeof each === 'object' && 'model' in each
        ? { ...each, model: `models/${model}` }
        : each,
    )
  }
  return renamed
}

interface Refusal {
  readonly place: string
  readonly client: string
  readonly status: number
  readonly message: string
}

describe.skipIf(requests.length === 0)('requests of real clients', () => {
  let app: TestApp

  beforeAll(async () => {
    app = await openTestApp()
  })
  afterAll(async () => {
    await app?.close()
  })

  async function replay(recorded: RecordedRequest): Promise<Refusal | undefined> {
    const { path, body } = toSandbox(recorded)
    const { 'content-type': type = 'application/json', 'accept-encoding': _, ...headers } = recorded.headers
    const response = await fetch(app.gatewayUrl + path, {
      method: recorded.method,
      headers: { ...headers, authorization: `Bearer ${app.secretKey}`, 'content-type': type },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isBrokenOff = /"type": ?"error"|event: error|response\.failed/.test(text)
    if (response.status < 400 && !isBrokenOff) return undefined
    const place = `${recorded.method} ${recorded.path}`
    const { status } = response
    return { place, client: recorded.client, status, message: readMessage(text) }
  }

  test('none is refused for its form by the sandbox', async () => {
    const refusals: Refusal[] = []
    let next = 0
    const worker = async (): Promise<void> => {
      for (let at = next++; at < requests.length; at = next++) {
        const refusal = await replay(requests[at] as RecordedRequest)
        if (refusal !== undefined) refusals.push(refusal)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    const isNotServed = ({ place, status }: Refusal): boolean =>
      status === 404 && NOT_SERVED.some(pattern => pattern.test(place))
    const isExcused = (refusal: Refusal): boolean =>
      isNotServed(refusal) || matches(NOT_IN_SANDBOX, refusal) || matches(ON_PURPOSE, refusal)
    const refused = refusals.filter(refusal => !isExcused(refusal))
    const unexpected = refused.filter(refusal => !matches(LOST, refusal))
    console.log(
      `${requests.length - refusals.length} of ${requests.length} recorded requests are served by the sandbox, ` +
        `${refusals.length - refused.length} are of features that it lacks or refused on purpose, ` +
        `${refused.length} refer to what is lost:\n${summarize(refused).join('\n')}`,
    )
    expect(summarize(unexpected)).toEqual([])
    expect(refused.length).toBeLessThanOrEqual(LOST_COUNT)
  })
})

function matches(patterns: readonly RegExp[], { place, status, message }: Refusal): boolean {
  return patterns.some(pattern => pattern.test(`${place}: ${status} ${message}`))
}

/** Each format has the message in another place. */
function readMessage(text: string): string {
  return /"(?:message|error)": ?"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text.slice(0, 200)
}

/** One line for each cause, with an example. */
function summarize(refusals: readonly Refusal[]): string[] {
  const causes = new Map<string, Refusal[]>()
  for (const refusal of refusals) {
    const { status, message } = refusal
    const cause = `${status} ${message.replace(/\d+/g, 'N')}`
    causes.set(cause, [...(causes.get(cause) ?? []), refusal])
  }
  return [...causes].map(([cause, [first, ...more]]) =>
    [`${more.length + 1} x ${cause}`, first?.client, first?.place].join(' | '),
  )
}
