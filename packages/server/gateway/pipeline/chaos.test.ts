import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  type UpstreamAnswer,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import type { GatewayDeps } from '../deps.ts'

const REQUESTS = Number(process.env.RIDEAU_TEST_CHAOS_REQUESTS ?? 10_000)
/** The time after which no further request starts, so that a slow machine makes fewer of them. */
const SECONDS = Number(process.env.RIDEAU_TEST_CHAOS_SECONDS ?? 45)
const SEED = Number(process.env.RIDEAU_TEST_CHAOS_SEED ?? Date.now() % 2_147_483_646) + 1
const CONCURRENT = 500
/** The time-out of one attempt. Only what never answers reaches it, also on a busy machine. */
const TIMEOUT_MS = 20_000
/** Three at the first target, by its `max_retries`; three at the second, which has none. */
const MAX_ATTEMPTS = 6
/** Far above what the attempts and the waits between them take, for a busy machine. */
const MAX_MS = 200_000
const SECRET = /sk-[a-z]\d/

let app: TestApp
let deps: GatewayDeps
let upstream: ScriptedUpstream
/** Every nonce that reached the upstream, and how often. */
const reached = new Map<string, number>()
let unanswered = 0
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT })

beforeAll(async () => {
  console.log(`chaos: seed ${SEED - 1}, RIDEAU_TEST_CHAOS_SEED repeats it`)
  app = await openTestApp(
    { RIDEAU_OPEN_REQUESTS: '20000', RIDEAU_CONNECTIONS: '20000' },
    { ...TEST_OVERRIDES, onDeps: made => void (deps = made) },
  )
  upstream = await openScriptedUpstream()
  for (const [provider, count] of [
    ['custom-a', 3],
    ['custom-b', 2],
  ] as const) {
    for (let n = 1; n <= count; n++) {
      const fields = { name: `${n}`, api_key: `sk-${provider.at(-1)}${n}`, weight: n }
      await app.addCredential(provider, { ...fields, base_url: upstream.baseUrl })
    }
  }
  const targets = [{ model: 'custom-a/m', max_retries: 2 }, { model: 'custom-b/m' }]
  await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, {
    alias: 'chaos',
    strategy: 'priority',
    targets,
  })
  const limit = { scope: 'environment', metric: 'concurrency', limit: 100_000 }
  await app.manage('POST', `/v1/environments/${app.developmentId}/limits`, limit)
})
afterAll(async () => {
  agent.destroy()
  await upstream.close()
  await app.close()
})

/** Random numbers from the seed. */
function openDice(): () => number {
  let state = SEED
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

interface Outcome {
  readonly nonce: string
  readonly status: number
  readonly attempts: number
  readonly text: string
  readonly ms: number
}

/** Sends one request. Resolves with status 0 if it was aborted or its connection broke. */
function send(nonce: string, isStream: boolean, abortMs: number | undefined, user: string): Promise<Outcome> {
  return new Promise(resolve => {
    const startedAt = performance.now()
    const chunks: Buffer[] = []
    let status = 0
    let attempts = 0
    const end = (finalStatus: number): void => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ nonce, status: finalStatus, attempts, text, ms: performance.now() - startedAt })
    }
    const sent = request(
      `${app.gatewayUrl}/v1/chat`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${app.secretKey}`,
          'content-type': 'application/json',
          ...(user === '' ? {} : { 'x-rideau-end-user': user }),
        },
      },
      response => {
        status = response.statusCode ?? 0
        attempts = Number(response.headers['x-rideau-attempts'] ?? 0)
        response.on('data', (part: Buffer) => chunks.push(part))
        response.on('end', () => end(status))
        response.on('error', () => end(0))
      },
    )
    sent.on('error', () => end(0))
    const messages = [{ role: 'user', content: nonce }]
    sent.end(JSON.stringify({ model: 'chaos', messages, stream: isStream, timeout_ms: TIMEOUT_MS }))
    if (abortMs !== undefined) setTimeout(() => sent.destroy(), abortMs)
  })
}

/** What the upstream does with a request: mostly it echoes the nonce, in pieces where it streams. */
function answerOf(nonce: string, isStream: boolean, lot: number): UpstreamAnswer {
  if (lot < 0.06) return json(500, { error: { message: `no ${nonce}` } })
  if (lot < 0.1) return json(503, {})
  if (lot < 0.14) return json(429, {}, { 'retry-after': '1' })
  if (lot < 0.19) return res => void res.destroy()
  if (lot < 0.191) return () => {}
  if (lot < 0.24) {
    if (isStream) return cutStream(chunk({ content: nonce }))
    return res => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
      res.write('{"choices":[', () => setImmediate(() => res.destroy()))
    }
  }
  if (!isStream) return completion(nonce)
  const pieces = [nonce.slice(0, 7), nonce.slice(7)].map(content => chunk({ content }))
  return stream(...pieces, chunk({}, 'stop'), usageChunk(), DONE)
}

/** The text of an answer: of a stream, of all its chunks. */
function contentOf({ text }: Outcome): string {
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join('')
}

test('concurrent requests get their own answers, within their attempts, and leave nothing open', async () => {
  const dice = openDice()
  let received = 0
  upstream.script((res, seen) => {
    const [message] = seen.body.messages as { content: string }[]
    const nonce = message?.content ?? ''
    reached.set(nonce, (reached.get(nonce) ?? 0) + 1)
    unanswered++
    res.once('close', () => unanswered--)
    received++
    // For a while one credential is down.
    const isDown =
      received > REQUESTS / 5 && received < REQUESTS / 2 && seen.headers.authorization === 'Bearer sk-a3'
    return answerOf(nonce, seen.body.stream === true, isDown ? 0 : dice())(res, seen)
  })
  const outcomes: Outcome[] = []
  const lastStart = performance.now() + SECONDS * 1000
  let next = 0
  const work = async (): Promise<void> => {
    while (next < REQUESTS && performance.now() < lastStart) {
      const nonce = `nonce-${next++}-${Math.floor(dice() * 1e9)}-end`
      const abortMs = dice() < 0.1 ? dice() * 200 : undefined
      const user = dice() < 0.5 ? `user-${Math.floor(dice() * 50)}` : ''
      outcomes.push(await send(nonce, dice() < 0.5, abortMs, user))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, work))

  const wrong = outcomes.filter(outcome => {
    const { nonce, status, attempts, text, ms } = outcome
    const named = text.match(/nonce-\d+-\d+(-end)?/g) ?? []
    const isCrossed = named.some(each => !nonce.startsWith(each))
    const isCut = text.includes('event: error')
    const isComplete = status !== 200 || isCut || contentOf(outcome) === nonce
    const isBounded = attempts <= MAX_ATTEMPTS && (reached.get(nonce) ?? 0) <= MAX_ATTEMPTS && ms <= MAX_MS
    // The headers of a stream that was silent for 15 s were sent before its last attempt.
    const isCounted = status !== 200 || text.startsWith(':') || (reached.get(nonce) ?? 0) <= attempts
    return isCrossed || !isComplete || !isBounded || !isCounted || SECRET.test(text)
  })
  expect(wrong).toEqual([])
  const counts = new Map<number, number>()
  const codes = new Map<string, number>()
  for (const { status, text } of outcomes) {
    counts.set(status, (counts.get(status) ?? 0) + 1)
    const code = /"code":"(\w+)"/.exec(text)?.[1]
    if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  const { openings, skips } = deps.circuits
  console.log(
    `chaos: ${outcomes.length} requests, ${received} attempts, ${openings} openings, ${skips} passed over, statuses`,
    Object.fromEntries(counts),
    Object.fromEntries(codes),
  )
  expect(counts.get(200) ?? 0).toBeGreaterThan(outcomes.length / 2)
  expect(counts.get(500) ?? 0).toBe(0)
  await expect.poll(() => deps.runningRequests.size, { timeout: 30_000 }).toBe(0)
  expect(deps.reservations.size).toBe(0)
  await expect.poll(() => deps.frontDoor.process.requests.used).toBe(0)
  await expect.poll(() => unanswered, { timeout: 30_000 }).toBe(0)
}, 300_000)
