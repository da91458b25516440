import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type BackendOptions, type FetchClientToken, fromBackend } from './from-backend.ts'
import { fromIdentityToken } from './from-identity-token.ts'
import { RideauClient } from './rideau-client.ts'
import { createManualRuntime, type ManualRuntime } from './testing/manual-runtime.ts'
import {
  breakAfter,
  openScriptedServer,
  type Reply,
  type ScriptedServer,
  sendError,
  sendJson,
} from './testing/scripted-server.ts'

let server: ScriptedServer
let runtime: ManualRuntime
beforeEach(async () => {
  server = await openScriptedServer()
  runtime = createManualRuntime()
  server.script(MODELS, sendJson(200, { data: [] }))
})
afterEach(() => server.close())

const MODELS = '/v1/models'
const MINT = '/v1/client-tokens'
const EXPIRED: Reply = sendError(401, 'key_expired')
const open = (backend: FetchClientToken | BackendOptions): RideauClient =>
  new RideauClient({ gatewayUrl: server.url, tokenSource: fromBackend(backend) }, runtime)
const bearers = (): unknown[] => server.received.map(({ headers }) => headers.authorization)

/** Gives `t1`, `t2`, ... and counts. */
function counting(fields: object = { expires_in: 900 }): { count: number; mint: FetchClientToken } {
  const state = {
    count: 0,
    mint: async () => {
      state.count++
      return { token: `t${state.count}`, ...fields }
    },
  }
  return state
}

const toJwt = (claims: object): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`

describe('a token is kept', () => {
  test.each<[string, object, number, number]>([
    ['expires_in of the answer', { expires_in: 600 }, 539_000, 541_000],
    ['the hour that no token exceeds', { expires_in: 86_400 }, 3_539_000, 3_541_000],
    ['four fifths of a short life', { expires_in: 100 }, 79_000, 81_000],
    ['15 minutes where nothing is known', {}, 839_000, 841_000],
    ['a wrong expires_in', { expires_in: 'soon' }, 839_000, 841_000],
  ])('by %s', async (_, fields, before, after) => {
    const { mint } = counting(fields)
    const client = open(mint)
    await client.listModels()
    runtime.advance(before)
    await client.listModels()
    runtime.advance(after - before)
    await client.listModels()
    expect(bearers()).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2'])
  })

  test("by the difference of the token's own times, whatever the device's clock says", async () => {
    let count = 0
    // Far in the past for this device.
    const client = open(async () => {
      count++
      return toJwt({ iat: 1_000, exp: 1_300, sub: 'ü' })
    })
    await client.listModels()
    runtime.advance(239_000)
    await client.listModels()
    expect(count).toBe(1)
    runtime.advance(2_000)
    await client.listModels()
    expect(count).toBe(2)
  })

  test('until signOut, also where one was being minted', async () => {
    let release: (token: string) => void = () => {}
    const given: Promise<string>[] = [
      new Promise(resolve => {
        release = resolve
      }),
      Promise.resolve('of-bob'),
    ]
    const client = open(() => given.shift() ?? Promise.reject(new Error('no more')))
    const ofAlice = client.listModels()
    client.signOut()
    const ofBob = client.listModels()
    await ofBob
    release('of-alice')
    await ofAlice
    await client.listModels()
    expect(bearers()).toEqual(['Bearer of-bob', 'Bearer of-alice', 'Bearer of-bob'])
  })
})

describe('a token is renewed', () => {
  test('once for concurrent calls', async () => {
    const tokens = counting()
    const client = open(tokens.mint)
    await Promise.all(Array.from({ length: 20 }, () => client.listModels()))
    expect(tokens.count).toBe(1)
    runtime.advance(901_000)
    await Promise.all(Array.from({ length: 20 }, () => client.listModels()))
    expect(tokens.count).toBe(2)
  })

  test('once where the gateway calls it expired, and concurrent calls share that', async () => {
    const tokens = counting()
    const client = open(tokens.mint)
    server.script(MODELS, (res, request) => {
      const isOld = request.headers.authorization === 'Bearer t1'
      ;(isOld ? EXPIRED : sendJson(200, { data: [] }))(res, request)
    })
    await Promise.all(Array.from({ length: 10 }, () => client.listModels()))
    expect(tokens.count).toBe(2)
    expect(server.countOf(MODELS)).toBe(20)
    expect(runtime.waits).toEqual([])
  })

  test('once where the gateway does not know it, as after its signing keys were replaced', async () => {
    const tokens = counting()
    server.script(MODELS, sendError(401, 'invalid_key'), sendJson(200, { data: [] }))
    await open(tokens.mint).listModels()
    expect(bearers()).toEqual(['Bearer t1', 'Bearer t2'])
  })

  test.each(['key_expired', 'invalid_key'])('no second time after a 401 %s', async code => {
    const tokens = counting()
    server.script(MODELS, sendError(401, code))
    await expect(open(tokens.mint).listModels()).rejects.toMatchObject({ code })
    expect(tokens.count).toBe(2)
    expect(server.countOf(MODELS)).toBe(2)
  })

  test('not after a 401 key_revoked', async () => {
    const tokens = counting()
    server.script(MODELS, sendError(401, 'key_revoked'))
    await expect(open(tokens.mint).listModels()).rejects.toMatchObject({ code: 'key_revoked' })
    expect(tokens.count).toBe(1)
    expect(server.countOf(MODELS)).toBe(1)
  })

  test('with the same Idempotency-Key after it expired', async () => {
    server.script('/v1/chat', EXPIRED, sendJson(200, {}))
    await open(counting().mint).chat({ model: 'm', messages: [] })
    expect(bearers()).toEqual(['Bearer t1', 'Bearer t2'])
    expect(new Set(server.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('later where its source fails while the old one still works', async () => {
    let count = 0
    const client = open(async () => {
      count++
      if (count === 2) throw new Error('the backend is down')
      return { token: `t${count}`, expires_in: 900 }
    })
    await client.listModels()
    runtime.advance(850_000)
    await client.listModels()
    await client.listModels()
    expect(count).toBe(2)
    runtime.advance(5_001)
    await client.listModels()
    expect(bearers()).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1', 'Bearer t3'])
  })
})

describe('a source that fails', () => {
  test.each<[string, FetchClientToken]>([
    ['throws', () => Promise.reject(new Error('no session'))],
    ['gives nothing', async () => ''],
    ['gives no token', async () => ({}) as never],
  ])('%s: the call rejects with a RideauTokenError, and the next one asks again', async (_, failing) => {
    let isDown = true
    const client = open(context => (isDown ? failing(context) : Promise.resolve('t')))
    await expect(client.listModels()).rejects.toMatchObject({ name: 'RideauTokenError' })
    expect(server.received).toEqual([])
    isDown = false
    await client.listModels()
  })

  test('a caller that leaves does not stop the renewal that others wait for', async () => {
    let release: (token: string) => void = () => {}
    const client = open(
      () =>
        new Promise(resolve => {
          release = resolve
        }),
    )
    const controller = new AbortController()
    const leaving = client.listModels({ signal: controller.signal })
    const staying = client.listModels()
    controller.abort(new Error('left'))
    await expect(leaving).rejects.toThrow('left')
    release('t1')
    await staying
    expect(bearers()).toEqual(['Bearer t1'])
  })

  test('one that never answers is given up', async () => {
    const options = { gatewayUrl: server.url, tokenTimeoutMs: 50 }
    let isAborted = false
    const tokenSource = fromBackend(({ signal }) => {
      signal.addEventListener('abort', () => {
        isAborted = true
      })
      return new Promise(() => {})
    })
    const client = new RideauClient({ ...options, tokenSource }, runtime)
    await expect(client.listModels()).rejects.toMatchObject({ name: 'RideauTimeoutError' })
    expect(isAborted).toBe(true)
  })
})

test('a backend named by its address is called with retries and the headers of the app', async () => {
  server.script('/token', breakAfter(), sendError(503, 'x'), sendJson(200, { token: 't1', end_user_id: 'u' }))
  const client = open({ url: `${server.url}/token`, getHeaders: async () => ({ 'x-session': 's' }) })
  await client.listModels()
  expect(server.countOf('/token')).toBe(3)
  expect(server.received[0]).toMatchObject({ method: 'POST', headers: { 'x-session': 's' } })
  expect(server.received[0]?.headers.authorization).toBeUndefined()
  expect(client.endUserId).toBe('u')
})

describe('an identity token', () => {
  const minted = sendJson(201, { token: 't1', expires_at: '2026-01-01T00:00:00.000Z', end_user_id: 'u' })
  const openWith = (asked: boolean[]): RideauClient =>
    new RideauClient(
      {
        gatewayUrl: server.url,
        tokenSource: fromIdentityToken({
          publishableKey: 'rd_pk_dev_x',
          getIdentityToken: async ({ renew }) => {
            asked.push(renew)
            return renew ? 'fresh' : 'stored'
          },
          scopes: ['ai.chat', 'feedback'],
          ttlSeconds: 600,
          attributes: { tier: 'gold' },
        }),
      },
      runtime,
    )

  test('is exchanged with the publishable key for a client token', async () => {
    server.script(MINT, minted)
    const asked: boolean[] = []
    await openWith(asked).listModels()
    expect(bearers()).toEqual(['Bearer rd_pk_dev_x', 'Bearer t1'])
    expect(server.received[0]?.json).toEqual({
      identity_token: 'stored',
      scopes: ['ai.chat', 'feedback'],
      ttl_seconds: 600,
      end_user: { attributes: { tier: 'gold' } },
    })
    expect(asked).toEqual([false])
  })

  test('is replaced by a fresh one, once, if it is refused', async () => {
    server.script(MINT, sendError(401, 'invalid_identity_token'), minted)
    const asked: boolean[] = []
    await openWith(asked).listModels()
    expect(asked).toEqual([false, true])
    expect(server.received[1]?.json.identity_token).toBe('fresh')

    server.script(MINT, sendError(401, 'invalid_identity_token'))
    await expect(openWith(asked).listModels()).rejects.toMatchObject({ code: 'invalid_identity_token' })
    expect(server.countOf(MINT)).toBe(4)
  })

  test('is exchanged again after a 429 and a 503, but not after another refusal', async () => {
    const limited = sendError(429, 'mint_rate_limit_exceeded', { 'retry-after': '3' })
    server.script(MINT, limited, sendError(503, 'signing_key_unavailable'), minted)
    await openWith([]).listModels()
    expect(runtime.waits).toEqual([3_125, 750])
    server.script(MINT, sendError(403, 'end_user_blocked'))
    await expect(openWith([]).listModels()).rejects.toMatchObject({ code: 'end_user_blocked' })
    expect(server.countOf(MINT)).toBe(4)
  })
})
