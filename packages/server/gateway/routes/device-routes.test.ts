import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAndroidDevice } from '../../testing/fakes/android-device.ts'
import {
  type AppAttestDevice,
  type AttestationParts,
  assertApp,
  attestApp,
  createAppAttestDevice,
} from '../../testing/fakes/app-attest-device.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import {
  APP_ID,
  androidBody,
  type DeviceApp,
  type Outcome,
  openDeviceApp,
  REJECTED,
  shorten,
  TEAM,
} from '../../testing/harness/device-app.ts'

let devices: DeviceApp
let app: TestApp
beforeAll(async () => {
  devices = await openDeviceApp()
  app = devices.app
})
afterAll(() => devices.close())

let publishable: DeviceApp['publishable']
let device: AppAttestDevice
beforeEach(async () => {
  await devices.changeCaller()
  publishable = devices.publishable
  device = createAppAttestDevice()
})

// A test may set another key.
const post: DeviceApp['post'] = (route, body, key = publishable.key, headers = {}) =>
  devices.post(route, body, key, headers)
const challenge: DeviceApp['challenge'] = (key = publishable.key) => devices.challenge(key)

async function attest(
  given: { challenge?: string; parts?: Partial<AttestationParts>; body?: object; of?: AppAttestDevice } = {},
): Promise<Outcome> {
  const { of = device } = given
  const text = given.challenge ?? (await challenge())
  const attestation = attestApp(devices.apple, of, { appId: APP_ID, challenge: text, ...given.parts })
  return post('attest', {
    key_id: of.keyId.toString('base64'),
    attestation_object: attestation.toString('base64'),
    challenge: text,
    ...given.body,
  })
}

async function assert(counter: number, given: { challenge?: string; body?: object } = {}): Promise<Outcome> {
  const text = given.challenge ?? (await challenge())
  const assertion = assertApp(device, { appId: APP_ID, challenge: text, counter })
  return post('assert', {
    key_id: device.keyId.toString('base64'),
    assertion: assertion.toString('base64'),
    challenge: text,
    ...given.body,
  })
}

const CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
const chat = async (key: string): Promise<number> => (await app.call('/v1/chat', CHAT, { key })).status

test('further roots are logged loudly at the start', () => {
  expect(devices.lines.join('')).toMatch(/RIDEAU_DEVICE_EXTRA_ROOTS IS SET/)
})

describe('a challenge', () => {
  test('has 32 random bytes, lives 300 seconds, and is not stored itself', async () => {
    const { status, body, headers } = await post('challenge', '')
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['challenge', 'expires_at'])
    expect(Buffer.from(body.challenge, 'base64url')).toHaveLength(32)
    expect(headers.get('cache-control')).toBe('no-store')
    const lifeMs = Date.parse(body.expires_at) - Date.now()
    expect(lifeMs).toBeGreaterThan(290_000)
    expect(lifeMs).toBeLessThanOrEqual(300_000)
    const hash = createHash('sha256').update(body.challenge).digest()
    const { rows } = await app.database.pool.query('select 1 from device_challenges where hash = $1', [hash])
    expect(rows).toHaveLength(1)
  })

  test.each([
    ['{}', '201'],
    [' { } \n', '201'],
    ['[]', '400 invalid_request'],
    ['{"a":1}', '400 invalid_request a'],
    ['x', '400 invalid_request'],
    [' '.repeat(100_000), '400 invalid_request'],
  ])('with the body %j is answered with %s', async (body, expected) => {
    expect(shorten(await post('challenge', body, publishable.key, { 'content-type': 'text/plain' }))).toBe(
      expected,
    )
  })

  test('removes expired ones of its environment', async () => {
    const { pool } = app.database
    await Promise.all([challenge(), challenge(), challenge()])
    await pool.query("update device_challenges set expires_at = now() - interval '1 second'")
    await challenge()
    expect((await pool.query('select 1 from device_challenges where expires_at < now()')).rows).toEqual([])
  })
})

describe('the order of checks', () => {
  test.each(['challenge', 'attest', 'assert'])('of %s is the documented one', async route => {
    const call = (key: string, headers = {}) => post(route, 'not JSON', key, headers).then(shorten)
    expect(await call('')).toBe('401 unauthenticated')
    expect(await call('rd_pk_dev_unknown')).toBe('401 invalid_key')
    expect(await call(app.secretKey)).toBe('403 publishable_key_required')
    const token = (await attest()).body.token
    expect(await call(token)).toBe(
      route === 'challenge' ? '403 publishable_key_required' : '403 client_token_cannot_mint',
    )
    const restricted = await app.createKey({
      kind: 'publishable',
      restrictions: { allowed_endpoints: ['client_tokens'] },
    })
    expect(await call(restricted.key)).toBe('403 endpoint_not_allowed')
    expect(await call(publishable.key, { origin: 'https://other.example' })).toBe('403 origin_not_allowed')
    await app.manage('DELETE', devices.deviceAuth)
    expect(await call(publishable.key)).toBe('400 device_attest_not_configured')
    await devices.configure()
    expect(await call(publishable.key)).toBe('400 invalid_request')
    // The key and the address were counted for each call that came so far; no limit was reached.
    const from = { 'x-forwarded-for': `198.51.100.${devices.address}` }
    const flood = await Promise.all(Array.from({ length: 61 }, () => call(publishable.key, from)))
    expect(flood.filter(each => each === '429 mint_rate_limit_exceeded')).toHaveLength(1)
    expect(flood.filter(each => each === '400 invalid_request')).toHaveLength(60)
  })
})

describe('an attested iPhone', () => {
  test('gets a token for an end user of its own, with the scopes of the key', async () => {
    const { status, body, headers } = await attest()
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(body.end_user_id).toMatch(/^device:[A-Za-z0-9_-]{22}$/)
    const { sub, amr, pk, scope } = decodeJwt(body.token)
    expect({ sub, amr, pk, scope }).toEqual({
      sub: body.end_user_id,
      amr: 'device',
      pk: publishable.id,
      scope: 'ai.chat ai.embed ai.images feedback',
    })
    expect(await chat(body.token)).toBe(200)
    const asserted = await assert(1, { body: { scopes: ['ai.chat'], ttl_seconds: 60 } })
    const { iat = 0, exp, ...claims } = decodeJwt(asserted.body.token)
    expect([claims.sub, claims.scope, exp]).toEqual([body.end_user_id, 'ai.chat', iat + 60])
  })

  test('is another end user in another project', async () => {
    const first = (await attest()).body.end_user_id
    const project = (await app.manage('POST', `/v1/orgs/${app.orgId}/projects`, { name: 'Other' })).body
    const ios = { team_id: TEAM, bundle_ids: ['dev.example.app'], environment: 'production' }
    await app.manage('PUT', `/v1/projects/${project.id}/device-auth`, { ios })
    const listed = (await app.manage('GET', `/v1/projects/${project.id}/environments`)).body.data
    const other = await app.createKey({ kind: 'publishable' }, listed[0].id)
    publishable = other
    const second = await attest()
    expect(second.status).toBe(201)
    expect(second.body.end_user_id).not.toBe(first)
  })

  test('is refused a token while its end user is blocked', async () => {
    const { end_user_id: id, token } = (await attest()).body
    const listed = await app.manage('GET', `/v1/environments/${app.developmentId}/end-users?limit=100`)
    const record = listed.body.data.find((each: any) => each.external_id === id)
    await app.manage('POST', `/v1/end-users/${record.id}/block`)
    expect(shorten(await assert(1))).toBe('403 end_user_blocked')
    expect(await chat(token)).toBe(403)
  })

  test('sends a DeviceCheck token that decides nothing', async () => {
    expect((await attest({ body: { device_check_token: 'AAAA' } })).status).toBe(201)
    const { rows } = await app.database.pool.query('select statement from devices where key_id = $1', [
      device.keyId,
    ])
    const sha256 = createHash('sha256').update('AAAA').digest('hex')
    expect(rows[0].statement.deviceCheck).toEqual({ sha256, verdict: 'unknown' })
  })

  test('is rejected, and bounded, with a DeviceCheck token as without one', async () => {
    const send = (token: unknown, parts = {}) => attest({ body: { device_check_token: token }, parts })
    expect(shorten(await send('AAAA', { counter: 1 }))).toBe(REJECTED)
    for (const token of ['', 'x'.repeat(8193), 1, ['AAAA']]) {
      expect(shorten(await send(token))).toBe('400 invalid_request device_check_token')
    }
    expect((await send('x'.repeat(8192))).status).toBe(201)
  })

  test("may send null for the fields of Android's, which are absent then", async () => {
    expect((await attest({ body: { certificate_chain: null } })).status).toBe(201)
    expect((await assert(1, { body: { counter: null } })).status).toBe(201)
    expect(shorten(await assert(2, { body: { counter: 2 } }))).toBe('400 invalid_request counter')
  })

  test('accepts base64url and the synonym attestation', async () => {
    const text = await challenge()
    const object = attestApp(devices.apple, device, { appId: APP_ID, challenge: text })
    const body = {
      platform: 'ios',
      key_id: device.keyId.toString('base64url'),
      attestation: object.toString('base64url'),
      challenge: text,
    }
    expect((await post('attest', body)).status).toBe(201)
  })

  test('is rejected with one answer for every reason', async () => {
    const used = await challenge()
    await attest({ challenge: used })
    const other = createAppAttestDevice()
    const expired = await challenge()
    await app.database.pool.query("update device_challenges set expires_at = now() - interval '1 second'")
    const outcomes = [
      await attest({ challenge: used, of: other }),
      await attest({ challenge: 'unknown', of: other }),
      await attest({ challenge: expired, of: other }),
      // Attested before.
      await attest(),
      await attest({ of: other, parts: { appId: `${TEAM}.dev.example.other` } }),
      await attest({ of: other, parts: { environment: 'appattestdevelop' } }),
      await attest({ of: other, parts: { counter: 1 } }),
      await attest({ of: other, parts: { nonce: Buffer.alloc(32) } }),
      await attest({ of: other, body: { key_id: 'AAAA' } }),
      await attest({ of: other, body: { attestation_object: 'AAAA' } }),
      await attest({ of: other, body: { attestation_object: Buffer.alloc(20_000).toString('base64') } }),
      await attest({ of: other, body: { attestation_object: Buffer.alloc(9_000, 0x81).toString('base64') } }),
      await attest({ of: other, parts: { chain: leaf => Array.from({ length: 20 }, () => leaf) } }),
      await assert(0),
      await assert(1, { challenge: used }),
      await assert(1, { body: { key_id: other.keyId.toString('base64') } }),
      await assert(1, { body: { assertion: Buffer.alloc(3_000).toString('base64') } }),
    ]
    for (const outcome of outcomes) {
      expect(shorten(outcome)).toBe(REJECTED)
      const { request_id: _, ...error } = outcome.body.error
      const { request_id: __, ...first } = outcomes[0]?.body.error ?? {}
      expect(error).toEqual(first)
    }
    const { rows } = await app.database.pool.query('select sign_count from devices where key_id = $1', [
      device.keyId,
    ])
    expect(rows).toEqual([{ sign_count: 0 }])
    expect((await assert(1)).status).toBe(201)
  })

  test('is rejected for a value of more than 64 Ki characters, which is not decoded', async () => {
    await attest()
    // Not base64, which only decoding would find.
    for (const text of ['%'.repeat(64 * 1024 + 1), 'A'.repeat(9 * 1024 * 1024)]) {
      const other = createAppAttestDevice()
      expect(shorten(await attest({ of: other, body: { attestation_object: text } }))).toBe(REJECTED)
      expect(shorten(await attest({ of: other, body: { key_id: text } }))).toBe(REJECTED)
      expect(shorten(await assert(1, { body: { assertion: text } }))).toBe(REJECTED)
    }
    const body = androidBody(devices, createAndroidDevice(), await challenge())
    const long = { ...body, certificate_chain: ['%'.repeat(64 * 1024 + 1)] }
    expect(shorten(await post('attest', long))).toBe(REJECTED)
    expect((await assert(1)).status).toBe(201)
  })

  test('uses its challenge up with a rejected attempt', async () => {
    const text = await challenge()
    expect(shorten(await attest({ challenge: text, parts: { counter: 1 } }))).toBe(REJECTED)
    expect(shorten(await attest({ challenge: text }))).toBe(REJECTED)
  })

  test('is unknown in another environment, and so is its challenge', async () => {
    await attest()
    const theirs = await challenge()
    publishable = await app.createKey({ kind: 'publishable' }, app.productionId)
    expect(shorten(await attest({ challenge: theirs, of: createAppAttestDevice() }))).toBe(REJECTED)
    expect(shorten(await assert(1))).toBe(REJECTED)
  })

  test("is rejected if its app left the project's settings", async () => {
    await attest()
    const ios = { team_id: TEAM, bundle_ids: ['dev.example.other'], environment: 'production' }
    await app.manage('PUT', devices.deviceAuth, { ios })
    expect(shorten(await assert(1))).toBe(REJECTED)
    expect(shorten(await post('attest', androidBody(devices, createAndroidDevice(), 'x')))).toBe(
      '400 device_attest_not_configured',
    )
    await devices.configure()
    expect((await assert(1)).status).toBe(201)
  })

  test('is rejected if it was attested as a development build and the project takes production ones now', async () => {
    const ios = { team_id: TEAM, bundle_ids: ['dev.example.app'], environment: 'development' }
    await app.manage('PUT', devices.deviceAuth, { ios })
    expect((await attest({ parts: { environment: 'appattestdevelop' } })).status).toBe(201)
    expect((await assert(1)).status).toBe(201)
    await devices.configure()
    expect(shorten(await assert(2))).toBe(REJECTED)
  })

  test.each<[string, object, string]>([
    ['no challenge', { challenge: undefined }, 'challenge'],
    ['a challenge of another type', { challenge: 1 }, 'challenge'],
    ['no key id', { key_id: undefined }, 'key_id'],
    ['a key id that is not base64', { key_id: '%%%' }, 'key_id'],
    ['no object', { attestation_object: undefined }, 'attestation_object'],
    ['an object that is not base64', { attestation_object: 'a b' }, 'attestation_object'],
    ['an unknown platform', { platform: 'windows' }, 'platform'],
    ['an unknown field', { counter: 1 }, 'counter'],
    ['a lifetime of an hour and a second', { ttl_seconds: 3601 }, 'ttl_seconds'],
  ])('gets invalid_request and keeps its challenge if it sends %s', async (_, body, param) => {
    const text = await challenge()
    expect(shorten(await attest({ challenge: text, body }))).toBe(`400 invalid_request ${param}`)
    expect((await attest({ challenge: text })).status).toBe(201)
  })

  test('gets invalid_request if it is not sent as JSON', async () => {
    const text = await challenge()
    const body = JSON.stringify({ challenge: text, key_id: 'a', attestation_object: 'a' })
    const sent = await post('attest', body, publishable.key, { 'content-type': 'text/plain' })
    expect(shorten(sent)).toBe('400 invalid_request Content-Type')
  })

  test('gets invalid_scope if it names scopes that the key lacks', async () => {
    publishable = await app.createKey({ kind: 'publishable', scopes: ['ai.chat'] })
    expect(shorten(await attest({ body: { scopes: ['ai.embed'] } }))).toBe('400 invalid_scope scopes')
    expect(shorten(await attest({ body: { scopes: [] } }))).toBe('400 invalid_scope scopes')
  })
})

describe('of requests at once', () => {
  const statuses = async (calls: readonly Promise<Outcome>[]): Promise<string[]> =>
    (await Promise.all(calls)).map(shorten).sort()

  test('with one challenge one succeeds', async () => {
    const text = await challenge()
    const of = () => attest({ challenge: text, of: createAppAttestDevice() })
    expect(await statuses([of(), of(), of(), of()])).toEqual(['201', REJECTED, REJECTED, REJECTED])
  })

  test('with one counter one succeeds', async () => {
    await attest()
    const texts = await Promise.all([challenge(), challenge(), challenge()])
    const calls = texts.map(text => assert(7, { challenge: text }))
    expect(await statuses(calls)).toEqual(['201', REJECTED, REJECTED])
  })

  test('with one key one succeeds, and its counter stays', async () => {
    const texts = await Promise.all([challenge(), challenge(), challenge()])
    expect(await statuses(texts.map(text => attest({ challenge: text })))).toEqual([
      '201',
      REJECTED,
      REJECTED,
    ])
    expect((await assert(9)).status).toBe(201)
    expect(shorten(await attest())).toBe(REJECTED)
    expect(shorten(await assert(9))).toBe(REJECTED)
    expect((await assert(4_294_967_295)).status).toBe(201)
  })
})

test.each([
  () => Promise.reject(new Error('down')),
  async () => 'banned' as const,
  () => new Promise<'ok'>(() => {}),
])('a signal that fails, reports a ban or never arrives refuses no device', async check => {
  Object.assign(devices.deps, { deviceCheck: { check } })
  expect((await attest({ body: { device_check_token: 'AAAA' } })).status).toBe(201)
})
