import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encodeCbor } from '../../testing/fakes/cbor-writer.ts'
import { type DeviceApp, openDeviceApp, REJECTED, shorten } from '../../testing/harness/device-app.ts'

/** What strangers with a publishable key can send: each body gets its documented error, whatever it weighs. */

const MIB = 1024 * 1024

let devices: DeviceApp
beforeAll(async () => {
  devices = await openDeviceApp()
})
afterAll(() => devices.close())
beforeEach(() => devices.changeCaller())

type Send = (body: unknown, headers?: Record<string, string>) => Promise<string>
const sendTo =
  (route: string): Send =>
  async (body, headers = {}) => {
    const from = { 'x-forwarded-for': `203.0.113.${devices.address}`, ...headers }
    const response = await devices.app.call(route, body, { key: devices.publishable.key, headers: from })
    return shorten({ status: response.status, body: await response.json() })
  }

describe.each([
  ['/v1/client-tokens', '400 request_validation_failed'],
  ['/v1/device/attest', '400 invalid_request'],
  ['/v1/device/assert', '400 invalid_request'],
])('%s', (route, malformed) => {
  const send = sendTo(route)

  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['a word', 'x'],
    ['half an object', '{"key_id":"AAAA"'],
    ['a name twice', '{"scopes":["ai.chat"],"scopes":["ai.embed"]}'],
    ['lists 100,000 deep', '['.repeat(100_000)],
    ['objects 65 deep', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['bytes that are no UTF-8', Buffer.from('{"key_id":"\xff"}', 'latin1')],
  ])('answers %s as malformed', async (_, body) => {
    expect((await send(body)).split(' ').slice(0, 2).join(' ')).toBe(malformed)
  })

  test.each(['[]', 'null', '1', '"x"'])(
    'answers JSON that is no object with invalid_request: %s',
    async body => {
      expect(await send(body)).toBe('400 invalid_request')
    },
  )

  test('refuses a body over 10 MiB, and one that unpacks to it', async () => {
    const huge = `{"x":"${'x'.repeat(10 * MIB)}"}`
    expect(await send(huge)).toBe('413 request_too_large')
    expect(await send(gzipSync(huge), { 'content-encoding': 'gzip' })).toBe('413 request_too_large')
  })

  test('refuses an unknown field of 9 MiB by its name', async () => {
    expect(await send({ unknown: 'x'.repeat(9 * MIB) })).toBe('400 invalid_request unknown')
  })
})

describe('a device that sends', () => {
  const attest = sendTo('/v1/device/attest')
  const assert = sendTo('/v1/device/assert')
  const KEY_ID = Buffer.alloc(32, 1).toString('base64')
  const common = async () => ({ key_id: KEY_ID, challenge: await devices.challenge() })
  const NINE_MIB = 'A'.repeat(9 * MIB)

  test('an object of 9 MiB is rejected as any other', async () => {
    expect(await attest({ ...(await common()), attestation_object: NINE_MIB })).toBe(REJECTED)
    expect(await assert({ ...(await common()), assertion: NINE_MIB })).toBe(REJECTED)
    const chain = { platform: 'android', certificate_chain: [NINE_MIB] }
    expect(await attest({ ...(await common()), ...chain })).toBe(REJECTED)
  })

  test('a key id of 9 MiB is rejected, and a challenge of 9 MiB is none', async () => {
    const object = { attestation_object: 'AAAA' }
    expect(await attest({ ...(await common()), ...object, key_id: NINE_MIB })).toBe(REJECTED)
    expect(await attest({ ...(await common()), ...object, challenge: NINE_MIB })).toBe(
      '400 invalid_request challenge',
    )
  })

  test('CBOR that is nested, or claims more than it has, is rejected', async () => {
    const deep = Buffer.concat([Buffer.alloc(16_000, 0x81), Buffer.from([0])])
    const maps = Buffer.concat([Buffer.alloc(8_000, Buffer.from([0xa1, 0x00])), Buffer.from([0])])
    const claims = Buffer.from([0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    const endless = Buffer.alloc(16_000, 0x9f)
    const wide = encodeCbor(Array.from({ length: 15_000 }, () => 0))
    for (const bytes of [deep, maps, claims, endless, wide]) {
      const text = bytes.toString('base64')
      expect(await attest({ ...(await common()), attestation_object: text })).toBe(REJECTED)
      expect(await assert({ ...(await common()), assertion: text })).toBe(REJECTED)
    }
  })

  test('a bomb of certificates is rejected, and more than 32 are a malformed body', async () => {
    const bomb = (count: number) => ({
      platform: 'android',
      certificate_chain: Array(count).fill(Buffer.alloc(8_000, 0x30).toString('base64')),
    })
    expect(await attest({ ...(await common()), ...bomb(32) })).toBe(REJECTED)
    expect(await attest({ ...(await common()), ...bomb(100_000 / 8) })).toBe('413 request_too_large')
    expect(await attest({ ...(await common()), ...bomb(33) })).toBe('400 invalid_request certificate_chain')
  })
})

describe('an identity token', () => {
  const send = sendTo('/v1/client-tokens')

  test('is asked for only where the project has an identity provider, however long it is', async () => {
    const body = { identity_token: 'x'.repeat(MIB), scopes: ['ai.chat'] }
    expect(await send(body)).toBe('400 federated_auth_not_configured')
  })

  test('in the place of the key is an unknown key', async () => {
    const token = `eyJ${'x'.repeat(14_000)}.eyJ${'x'.repeat(500)}.x`
    const response = await devices.app.call('/v1/client-tokens', {}, { key: token })
    expect(response.status).toBe(401)
    expect(((await response.json()) as any).error.code).toBe('invalid_key')
  })
})

test('a signing key that cannot be read is answered with 503 and a wait', async () => {
  await devices.app.database.pool.query("update signing_keys set private_cipher = '\\x00'")
  const body = { end_user: { id: 'alice' }, scopes: ['ai.chat'] }
  const headers = { 'x-forwarded-for': '203.0.113.250' }
  const response = await devices.app.call('/v1/client-tokens', body, { headers })
  expect([response.status, ((await response.json()) as any).error.code]).toEqual([
    503,
    'signing_key_unavailable',
  ])
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
})
