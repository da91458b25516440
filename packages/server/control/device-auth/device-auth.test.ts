import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { DeviceAuthResource } from './device-auth-resource.ts'

type DeviceAuth = z.output<typeof DeviceAuthResource>

const pem = (curve: string): string =>
  generateKeyPairSync('ec', { namedCurve: curve })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
const PRIVATE_KEY = pem('P-256')
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

let plane: ControlPlane
let tenant: Tenant
let path: string
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
})
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
  path = `/v1/projects/${tenant.project.id}/device-auth`
  key = tenant.keys.admin
})
afterAll(() => plane.close())

const put = (body: object) => plane.call<DeviceAuth>('PUT', path, { key, body })
const ios = { team_id: 'ABCDE12345', bundle_ids: ['com.example.app'], environment: 'production' }
const android = { package_names: ['com.example.app'], signing_digests: [HEX] }

test('a configuration is 404 before it is set; it is set, read, replaced as a whole and removed', async () => {
  const viewer = { key: tenant.keys.viewer }
  expect((await plane.call('GET', path, viewer)).outcome).toBe('404 resource_not_found')
  expect((await plane.call('DELETE', path, { key })).outcome).toBe('404 resource_not_found')
  for (const method of ['GET', 'DELETE'] as const) {
    const { text } = await plane.call(method, path, { key })
    expect(text).toContain('This project has no device auth: it is not configured.')
  }
  const set = await put({ ios, android })
  const now = new Date(plane.clock.now()).toISOString()
  expect(set.status).toBe(200)
  expect(set.json).toEqual({
    project_id: tenant.project.id,
    ios: { ...ios, device_check: null },
    android,
    created_at: now,
    updated_at: now,
  })
  expect((await plane.call('GET', path, viewer)).json).toEqual(set.json)
  plane.clock.advance(1000)
  const replaced = await put({ android })
  const later = new Date(plane.clock.now()).toISOString()
  expect(replaced.json).toEqual({ ...set.json, ios: null, updated_at: later })
  expect((await plane.call('DELETE', path, { key })).status).toBe(204)
  expect((await plane.call('GET', path, viewer)).outcome).toBe('404 resource_not_found')
})

describe("DeviceCheck's key", () => {
  const stored = () =>
    plane.database.db
      .selectFrom('device_auth')
      .select('device_check_cipher')
      .where('project_id', '=', tenant.project.id)
      .executeTakeFirstOrThrow()
  const device_check = { key_id: 'KEYID12345', private_key: PRIVATE_KEY }

  test('is sealed and never returned, and stays if the same key_id is sent without it', async () => {
    const set = await put({ ios: { ...ios, device_check } })
    expect(set.json.ios?.device_check).toEqual({ key_id: 'KEYID12345' })
    expect(set.text).not.toContain('PRIVATE')
    const { device_check_cipher } = await stored()
    const context = `device_auth:${tenant.project.id}`
    expect(plane.secretBox.open(device_check_cipher as Buffer, context)).toBe(PRIVATE_KEY)
    await put({ ios: { ...ios, device_check: { key_id: 'KEYID12345' } } })
    expect((await stored()).device_check_cipher).toEqual(device_check_cipher)
    const { rows } = await plane.database.pool.query('select before, after from audit_log')
    expect(JSON.stringify(rows)).not.toContain('PRIVATE')
  })

  test('is removed if it is absent, and a new key_id needs its own key', async () => {
    const param = 'ios.device_check.private_key'
    const bare = { ...ios, device_check: { key_id: 'OTHER12345' } }
    expect((await put({ ios: bare })).outcome).toBe(`400 invalid_request ${param}`)
    await put({ ios: { ...ios, device_check } })
    expect((await put({ ios: bare })).outcome).toBe(`400 invalid_request ${param}`)
    expect((await put({ ios })).json.ios?.device_check).toBeNull()
    expect((await stored()).device_check_cipher).toBeNull()
  })

  test.each([
    ['a text that is not PEM', 'secret'],
    ['a key on another curve', pem('P-384')],
    ['a text of many characters', 'a'.repeat(4097)],
    [
      'a public key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }),
    ],
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ],
  ])('400 invalid_request: %s', async (_, private_key) => {
    const answer = await put({ ios: { ...ios, device_check: { ...device_check, private_key } } })
    expect(answer.outcome).toBe('400 invalid_request ios.device_check.private_key')
    expect(answer.text).not.toContain('PRIVATE')
  })
})

test.each([
  ['hex', HEX],
  ['upper case with colons, as the Play Console shows them', HEX.toUpperCase().replace(/..(?=.)/g, '$&:')],
  ['base64', Buffer.from(HEX, 'hex').toString('base64')],
  ['base64url', Buffer.from(HEX, 'hex').toString('base64url')],
])('accepts a signing digest in %s', async (_, digest) => {
  const { json } = await put({ android: { ...android, signing_digests: [digest] } })
  expect(json.android?.signing_digests).toEqual([HEX])
})

test.each([
  [{}, 'ios'],
  [{ ios: null, android: null }, 'ios'],
  [{ ios: { ...ios, team_id: 'abcde12345' } }, 'ios.team_id'],
  [{ ios: { ...ios, team_id: 'ABCDE1234' } }, 'ios.team_id'],
  [{ ios: { ...ios, bundle_ids: [] } }, 'ios.bundle_ids'],
  [{ ios: { ...ios, bundle_ids: ['app'] } }, 'ios.bundle_ids[0]'],
  [{ ios: { ...ios, bundle_ids: ['com.example.*'] } }, 'ios.bundle_ids[0]'],
  [{ ios: { ...ios, environment: 'sandbox' } }, 'ios.environment'],
  [{ ios: { ...ios, environment: undefined } }, 'ios.environment'],
  [{ ios: { ...ios, device_check: { key_id: 'x' } } }, 'ios.device_check.key_id'],
  [{ android: { ...android, package_names: ['app'] } }, 'android.package_names[0]'],
  [{ android: { ...android, signing_digests: ['abc'] } }, 'android.signing_digests[0]'],
  [{ android: { ...android, signing_digests: [`${HEX}00`] } }, 'android.signing_digests[0]'],
  [{ android: { package_names: ['com.example.app'] } }, 'android.signing_digests'],
  [{ windows: {} }, 'windows'],
])('400 invalid_request: %j', async (body, param) => {
  expect((await put(body)).outcome).toBe(`400 invalid_request ${param}`)
})
