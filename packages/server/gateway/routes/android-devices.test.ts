import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  assertKey,
  attestKey,
  createAndroidDevice,
  createKeyAttestationAuthority,
} from '../../testing/fakes/android-device.ts'
import {
  androidBody,
  type DeviceApp,
  DIGEST,
  type Outcome,
  openDeviceApp,
  PACKAGE,
  REJECTED,
  shorten,
} from '../../testing/harness/device-app.ts'

const OTHER_DIGEST = 'cd'.repeat(32)

let devices: DeviceApp
beforeAll(async () => {
  devices = await openDeviceApp()
})
afterAll(() => devices.close())
beforeEach(() => devices.changeCaller())

const post: DeviceApp['post'] = (...args) => devices.post(...args)
const challenge: DeviceApp['challenge'] = key => devices.challenge(key)

describe('an attested Android phone', () => {
  const phone = createAndroidDevice()
  const sign = async (counter: number, of = phone): Promise<Outcome> => {
    const text = await challenge()
    return post('assert', {
      platform: 'android',
      key_id: of.keyId.toString('base64'),
      assertion: assertKey(of, text, counter).toString('base64'),
      challenge: text,
      counter,
    })
  }

  test('gets tokens for an end user of its own, with counters that increase', async () => {
    const text = await challenge()
    const { status, body } = await post('attest', androidBody(devices, phone, text))
    expect(status).toBe(201)
    const again = await sign(1)
    expect([again.status, again.body.end_user_id]).toEqual([201, body.end_user_id])
    expect(shorten(await sign(1))).toBe(REJECTED)
    expect((await sign(4_294_967_295)).status).toBe(201)
  })

  test("is rejected if its app's signing certificate left the project's settings", async () => {
    const own = createAndroidDevice()
    const android = { package_names: [PACKAGE], signing_digests: [DIGEST, OTHER_DIGEST] }
    await devices.app.manage('PUT', devices.deviceAuth, { android })
    const text = await challenge()
    const parts = { challenge: text, packageNames: [PACKAGE], signingDigests: [DIGEST, OTHER_DIGEST] }
    const chain = attestKey(devices.google, own, parts).map(each => each.toString('base64'))
    const body = { ...androidBody(devices, own, text), certificate_chain: chain }
    expect((await post('attest', body)).status).toBe(201)
    expect((await sign(1, own)).status).toBe(201)
    await devices.configure()
    expect(shorten(await sign(2, own))).toBe(REJECTED)
  })

  test('is rejected if an earlier version stored it without its signing certificates', async () => {
    const own = createAndroidDevice()
    await post('attest', androidBody(devices, own, await challenge()))
    expect((await sign(1, own)).status).toBe(201)
    const { pool } = devices.app.database
    await pool.query(`update devices set statement = statement - 'signingDigests' where key_id = $1`, [
      own.keyId,
    ])
    expect(shorten(await sign(2, own))).toBe(REJECTED)
  })

  test('is rejected with another challenge, app or root, and after a bomb of certificates', async () => {
    const other = createAndroidDevice()
    const send = async (change: (body: any, text: string) => object): Promise<string> => {
      const text = await challenge()
      const body = androidBody(devices, other, text)
      return shorten(await post('attest', { ...body, ...change(body, text) }))
    }
    const stranger = createKeyAttestationAuthority()
    const encode = (chain: Buffer[]) => ({ certificate_chain: chain.map(each => each.toString('base64')) })
    const parts = { packageNames: [PACKAGE], signingDigests: [DIGEST] }
    expect(await send(() => androidBody(devices, other, 'x'))).toBe(REJECTED)
    expect(await send((_, text) => encode(attestKey(stranger, other, { ...parts, challenge: text })))).toBe(
      REJECTED,
    )
    expect(
      await send((_, text) =>
        encode(attestKey(devices.google, other, { ...parts, packageNames: ['other'], challenge: text })),
      ),
    ).toBe(REJECTED)
    const bomb = ({ certificate_chain: [leaf] }: any) => ({ certificate_chain: Array(32).fill(leaf) })
    expect(await send(bomb)).toBe(REJECTED)
    expect(await send(() => ({ certificate_chain: Array(33).fill('AAAA') }))).toBe(
      '400 invalid_request certificate_chain',
    )
    expect(await send(() => ({ certificate_chain: [] }))).toBe('400 invalid_request certificate_chain')
    expect(shorten(await sign(1, other))).toBe(REJECTED)
  })
})
