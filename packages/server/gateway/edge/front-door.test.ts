import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientTokenClaims, signClientToken, type TokenSigner } from '../../core/access/client-token.ts'
import { createKeyText } from '../../core/access/key-format.ts'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { findSigner } from '../../storage/keys/signing-keys.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { openRaw, type RawConnection } from '../../testing/harness/raw-connection.ts'
import type { GatewayDeps } from '../deps.ts'

/** What one caller can take from others before its body is read, tried with the weakest credential that reaches it. */

const BODY = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
const MIB = 1024 * 1024

interface DoorApp {
  readonly app: TestApp
  readonly deps: GatewayDeps
  readonly lines: string[]
  /** Makes a client token of the key for an end user. */
  mint(keyId: string, sub: string): string
  close(): Promise<void>
}

async function openDoorApp(
  env: Record<string, string>,
  overrides: typeof TEST_OVERRIDES = TEST_OVERRIDES,
): Promise<DoorApp> {
  const masterKey = randomBytes(32)
  const lines: string[] = []
  let deps: GatewayDeps | undefined
  const app = await openTestApp(
    { RIDEAU_MASTER_KEY: masterKey.toString('base64'), LOG_LEVEL: 'warn', ...env },
    { ...overrides, onDeps: made => (deps = made) },
    { write: line => void lines.push(line) },
  )
  const box = openSecretBox(masterKey, systemRandom)
  const signer = (await findSigner(app.database.db, box, Date.now())) as TokenSigner
  return {
    app,
    deps: deps as unknown as GatewayDeps,
    lines,
    mint(keyId, sub) {
      const iat = Math.floor(Date.now() / 1000)
      const claims: ClientTokenClaims = {
        iss: app.gatewayUrl,
        aud: 'rideau',
        sub,
        org: app.orgId,
        prj: app.projectId,
        env: app.developmentId,
        scope: 'ai.chat feedback',
        plan: null,
        amr: 'secret_key',
        pk: keyId,
        ver: 1,
        iat,
        nbf: iat,
        exp: iat + 900,
        jti: randomBytes(8).toString('hex'),
      }
      return signClientToken(claims, signer)
    },
    close: () => app.close(),
  }
}

interface Outcome {
  readonly outcome: string
  readonly headers: Headers
  readonly text: string
}

async function call(
  { app }: DoorApp,
  key: string | undefined,
  { route = '/v1/chat', body = BODY as unknown, headers = {} as Record<string, string> } = {},
): Promise<Outcome> {
  const response = await fetch(app.gatewayUrl + route, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
  })
  const text = await response.text()
  const code = /"code":"(\w+)"/.exec(text)?.[1]
  return { outcome: [response.status, code].filter(Boolean).join(' '), headers: response.headers, text }
}

/** Calls `times` times with 50 calls at once, and counts the outcomes. */
async function flood(times: number, one: () => Promise<Outcome>): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  let left = times
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const { outcome } = await one()
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 50 }, work))
  return counts
}

/** Repeats a call until it is refused by a rate. */
async function untilRefused(one: () => Promise<Outcome>): Promise<Outcome> {
  for (let at = 0; at < 100; at++) {
    const outcome = await one()
    if (outcome.outcome.startsWith('429')) return outcome
  }
  throw new Error('not refused')
}

async function countRecords({ app }: DoorApp): Promise<number> {
  const { rows } = await app.database.pool.query<{ count: string }>(
    'select count(*)::text as count from request_logs',
  )
  return Number(rows[0]?.count)
}

const LIMITED = '429 rate_limit_exceeded'
const OPEN = '429 concurrency_limit_exceeded'

describe('rates', () => {
  let door: DoorApp
  beforeAll(async () => {
    door = await openDoorApp({
      // Five at once: the tests call as one end user up to three times.
      RIDEAU_END_USER_REQUESTS_PER_SECOND: '0.5',
      RIDEAU_ADDRESS_REQUESTS_PER_SECOND: '1',
    })
  })
  afterAll(() => door.close())

  test('2,000 requests of one end user are refused beyond its rate, by any of its tokens; others are served', async () => {
    const { app } = door
    const { id, key } = await app.createKey({})
    const tokens = Array.from({ length: 5 }, () => door.mint(id, 'mallory'))
    expect((await call(door, tokens[0])).outcome).toBe('200')
    const warnings = door.lines.length
    let at = 0
    const counts = await flood(2_000, () => call(door, tokens[at++ % 5]))
    expect([...counts.keys()].filter(outcome => outcome !== '200')).toEqual([LIMITED])
    expect(counts.get(LIMITED)).toBeGreaterThan(1_800)
    expect((await call(door, door.mint(id, 'alice'))).outcome).toBe('200')
    expect((await call(door, key)).outcome).toBe('200')
    expect((await call(door, app.secretKey)).outcome).toBe('200')
    // A line a minute, and records of the served requests only.
    expect(door.lines.slice(warnings).join('')).toContain('end_user_rate')
    expect(door.lines.length).toBeLessThan(warnings + 5)
    await expect.poll(() => countRecords(door)).toBe((counts.get('200') ?? 0) + 4)
  }, 240_000)

  test('a refusal has Retry-After, the envelope of its format, a request id and CORS headers, and the bucket refills', async () => {
    const { id } = await door.app.createKey({})
    const token = door.mint(id, 'browser')
    const headers = { 'x-rideau-end-user': 'refused anyway' }
    for (const [route, type] of [
      ['/v1/chat', '"type":"rate_limit_error"'],
      ['/openai/v1/chat/completions', '"type":"rate_limit_error"'],
      ['/anthropic/v1/messages', '"type":"error"'],
      ['/gemini/v1beta/models/x:generateContent', '"status":"RESOURCE_EXHAUSTED"'],
      ['/ollama/api/chat', '"error"'],
      ['/cohere/v2/chat', '"message"'],
      ['/bedrock/model/x/converse', '"message"'],
    ] as const) {
      const refused = await untilRefused(() =>
        call(door, token, { route, headers: { ...headers, origin: 'https://app.example' } }),
      )
      expect(refused.headers.get('retry-after')).toMatch(/^[1-5]$/)
      expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example')
      expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After')
      expect(refused.text).toContain(type)
    }
    await expect.poll(async () => (await call(door, token)).outcome, { timeout: 20_000 }).toBe('200')
  }, 60_000)

  test('unknown keys, forged tokens and calls without a credential are limited by address, before any query', async () => {
    const { app } = door
    const { id, key } = await app.createKey({})
    const token = door.mint(id, 'carol')
    expect([(await call(door, key)).outcome, (await call(door, token)).outcome]).toEqual(['200', '200'])
    let queries = 0
    const { snapshots, signingKeys } = door.deps
    const [load, find] = [snapshots.load, signingKeys.find]
    snapshots.load = async digest => {
      queries++
      return await load.call(snapshots, digest)
    }
    signingKeys.find = async kid => {
      queries++
      return await find.call(signingKeys, kid)
    }
    const guesses = [
      () => createKeyText({ kind: 'secret', environment: 'development' }, systemRandom),
      () => `${token.slice(0, -86)}${randomBytes(64).toString('base64url')}`,
      () => undefined,
    ]
    let at = 0
    const counts = await flood(1_500, () => call(door, guesses[at++ % 3]?.()))
    Object.assign(snapshots, { load })
    Object.assign(signingKeys, { find })
    const known = ['401 invalid_key', '401 unauthenticated', LIMITED]
    expect([...counts.keys()].filter(outcome => !known.includes(outcome))).toEqual([])
    expect(counts.get(LIMITED)).toBeGreaterThan(1_000)
    expect(queries).toBeLessThan(300)
    await expect.poll(async () => (await call(door, undefined, { route: '/nowhere' })).outcome).toBe(LIMITED)
    // The same address: credentials that are known are served, also after a change dropped them from memory.
    expect([(await call(door, key)).outcome, (await call(door, token)).outcome]).toEqual(['200', '200'])
    snapshots.flush()
    expect([(await call(door, key)).outcome, (await call(door, token)).outcome]).toEqual(['200', '200'])
    expect((await fetch(`${app.gatewayUrl}/healthz`)).status).toBe(200)
    expect((await fetch(`${app.gatewayUrl}/.well-known/jwks.json`)).status).toBe(200)
  }, 60_000)

  test('a hundred end users with new tokens behind one address are all served', async () => {
    const { id } = await door.app.createKey({})
    await expect
      .poll(async () => (await call(door, door.mint(id, 'the first'))).outcome, { timeout: 10_000 })
      .toBe('200')
    for (let at = 0; at < 100; at++) {
      expect((await call(door, door.mint(id, `phone ${at}`))).outcome).toBe('200')
    }
  }, 60_000)
})

/** Opens a chat whose body never comes. */
async function openSilent({ app }: DoorApp, key: string, length = 1_000): Promise<RawConnection> {
  const raw = await openRaw(app.gatewayUrl)
  raw.socket.write(
    `POST /v1/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`,
  )
  return raw
}

describe('open requests', () => {
  let door: DoorApp
  let upstream: ScriptedUpstream
  let otherKey: string
  beforeAll(async () => {
    door = await openDoorApp({ RIDEAU_OPEN_REQUESTS: '400' })
    upstream = await openScriptedUpstream()
    const { app } = door
    await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
    const project = await app.manage('POST', `/v1/orgs/${app.orgId}/projects`, { name: 'Other' })
    const { body } = await app.manage('GET', `/v1/projects/${project.body.id}/environments`)
    const other = body.data.find((each: { name: string }) => each.name === 'development')
    otherKey = (await app.createKey({}, other.id)).key
  })
  afterAll(async () => {
    await door.close()
    await upstream.close()
  })

  const openNow = () => door.deps.frontDoor.process.requests.used

  /** Opens silent requests until `refusals` of them were refused. Returns them all. */
  async function exhaust(key: () => string, most: number): Promise<RawConnection[]> {
    const all: RawConnection[] = []
    for (let at = 0; at < most; at++) all.push(await openSilent(door, key()))
    await expect.poll(() => all.some(raw => raw.text().includes('concurrency_limit_exceeded'))).toBe(true)
    return all
  }

  async function endAll(all: readonly RawConnection[]): Promise<void> {
    for (const { socket } of all) socket.destroy()
    await expect.poll(openNow, { timeout: 10_000 }).toBe(0)
  }

  test('a key that opens as many silent requests as it can leaves room to another key and environment', async () => {
    const { app } = door
    const { key } = await app.createKey({})
    const all = await exhaust(() => key, 300)
    expect((await call(door, key)).outcome).toBe(OPEN)
    expect((await call(door, app.secretKey)).outcome).toBe('200')
    expect((await call(door, otherKey)).outcome).toBe('200')
    const refused = all.find(raw => raw.text().includes('concurrency_limit_exceeded'))
    expect(refused?.text()).toMatch(/Retry-After: 1/i)
    // What is open can still be canceled.
    const cancel = await call(door, key, {
      route: '/v1/requests/018f3b2e-0000-7000-8000-000000000000/cancel',
      body: {},
    })
    expect(cancel.outcome).toBe('200')
    await endAll(all)
    expect((await call(door, key)).outcome).toBe('200')
  }, 60_000)

  test('an end user takes a small part, and a hundred of them no more than their key has', async () => {
    const { app } = door
    const { id, key } = await app.createKey({})
    const mallory = door.mint(id, 'mallory')
    const alone = await exhaust(() => mallory, 100)
    expect(openNow()).toBeLessThan(60)
    expect((await call(door, door.mint(id, 'alice'))).outcome).toBe('200')
    await endAll(alone)
    const tokens = Array.from({ length: 100 }, (_, at) => door.mint(id, `puppet ${at}`))
    let at = 0
    const all = await exhaust(() => tokens[at++ % 100] as string, 400)
    expect((await call(door, key)).outcome).toBe('200')
    expect((await call(door, otherKey)).outcome).toBe('200')
    await endAll(all)
  }, 60_000)

  test('an end user that a key names cannot take the whole share of that key', async () => {
    const { app } = door
    const { key } = await app.createKey({})
    upstream.script(async () => await new Promise(() => {}))
    const aborts: AbortController[] = []
    const slow = { ...BODY, model: 'custom/slow', end_user: 'mallory' }
    const outcomes: string[] = []
    for (let at = 0; at < 300; at++) {
      const abort = new AbortController()
      aborts.push(abort)
      fetch(`${app.gatewayUrl}/v1/chat`, {
        method: 'POST',
        signal: abort.signal,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(slow),
      }).then(
        response => outcomes.push(String(response.status)),
        () => {},
      )
    }
    // A request counts as its key's until its body is read.
    await expect.poll(() => outcomes.length + openNow(), { timeout: 30_000 }).toBe(aborts.length)
    expect(new Set(outcomes)).toEqual(new Set(['429']))
    expect((await call(door, key, { body: { ...BODY, end_user: 'alice' } })).outcome).toBe('200')
    for (const abort of aborts) abort.abort()
    await expect.poll(openNow, { timeout: 10_000 }).toBe(0)
  }, 60_000)

  test('requests that were pipelined on a connection that closed release their permits', async () => {
    const raw = await openRaw(door.app.gatewayUrl)
    const one = `POST /v1/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${door.app.secretKey}\r\nContent-Type: application/json\r\n`
    const body = JSON.stringify({ ...BODY, model: 'sandbox/slow' })
    raw.socket.write(`${one}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(20))
    await expect.poll(openNow).toBeGreaterThan(0)
    raw.socket.destroy()
    await expect.poll(openNow, { timeout: 15_000 }).toBe(0)
  }, 60_000)
})

describe('bodies', () => {
  let door: DoorApp
  beforeAll(async () => {
    const overrides = { ...TEST_OVERRIDES, bodyTimeoutMs: 30_000 }
    door = await openDoorApp({ RIDEAU_BODY_BYTES: String(256 * MIB) }, overrides)
  })
  afterAll(() => door.close())

  const heldNow = () => door.deps.frontDoor.process.bytes.used

  test('a hundred slow bodies of 32 MiB are bounded together, and a small request of another key is served', async () => {
    const { app } = door
    const { id, key } = await app.createKey({})
    const token = door.mint(id, 'mallory')
    const all: RawConnection[] = []
    for (let at = 0; at < 100; at++) all.push(await openSilent(door, at % 2 === 0 ? key : token, 32 * MIB))
    await expect
      .poll(() => all.filter(raw => raw.text().includes('concurrency_limit_exceeded')).length)
      .toBeGreaterThan(80)
    expect(heldNow()).toBeLessThanOrEqual(256 * MIB)
    const long = { ...BODY, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }
    expect((await call(door, app.secretKey, { body: long })).outcome).toBe('200')
    // A body without progress is refused after a sixth of its 30 s. The answer waits 10 s at most for the rest of the upload.
    await expect.poll(heldNow, { timeout: 20_000 }).toBe(0)
    for (const { socket } of all) socket.destroy()
  }, 60_000)

  test('chunked and packed bodies are counted as they arrive and as they unpack', async () => {
    const { app } = door
    const raw = await openRaw(app.gatewayUrl)
    raw.socket.write(
      `POST /v1/chat HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.secretKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    raw.socket.write(`${(2 * MIB).toString(16)}\r\n${' '.repeat(2 * MIB)}\r\n`)
    await expect.poll(heldNow).toBe(2 * MIB)
    raw.socket.destroy()
    await expect.poll(heldNow).toBe(0)
    const text = Array.from({ length: 40_000 }, () => randomBytes(12).toString('hex')).join('')
    const packed = gzipSync(
      JSON.stringify({ ...BODY, model: 'sandbox/slow', messages: [{ role: 'user', content: text }] }),
    )
    const answer = call(door, app.secretKey, { body: packed, headers: { 'content-encoding': 'gzip' } })
    await expect.poll(heldNow).toBeGreaterThan(packed.length + text.length)
    expect((await answer).outcome).toBe('200')
    await expect.poll(heldNow).toBe(0)
  }, 60_000)
})
