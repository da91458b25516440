import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseTrustedProxies } from '../http/client-address.ts'
import { type ControlPlane, openControlPlane, PASSWORD, SETUP_TOKEN } from '../testing/control-plane.ts'

const LIMITED = '429 control_rate_limit_exceeded'

let plane: ControlPlane
beforeEach(async () => {
  const trustedProxies = parseTrustedProxies(['127.0.0.1'])
  if (trustedProxies === undefined) throw new Error('no proxies')
  plane = await openControlPlane({ trustedProxies })
})
afterEach(() => plane.close())

const signIn = (email: string, address = '192.0.2.1', password = 'wrong') =>
  plane.call('POST', '/v1/session', {
    body: { email, password },
    headers: { 'x-forwarded-for': `203.0.113.9, ${address}` },
  })

describe('10 sign-ins a minute for an account and address', () => {
  test('the eleventh is 429, right password or wrong, known account or not; who waits as told gets through', async () => {
    for (const { user } of [await plane.insertPerson(), { user: { email: 'nobody@example.com' } }]) {
      for (let i = 0; i < 10; i++) {
        expect((await signIn(user.email)).outcome).toBe('401 sign_in_failed')
        plane.clock.advance(500)
      }
      const refused = await signIn(user.email, undefined, PASSWORD)
      expect(refused.outcome).toBe(LIMITED)
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBe(55)
      plane.clock.advance(seconds * 1000 - 1)
      expect((await signIn(user.email, undefined, PASSWORD)).outcome).toBe(LIMITED)
      plane.clock.advance(1)
      expect((await signIn(user.email)).outcome).toBe('401 sign_in_failed')
    }
  })

  test('another account and another address are counted apart, of IPv6 by the /64', async () => {
    const from = async (email: string, address: string) => (await signIn(email, address)).outcome
    for (let i = 0; i < 10; i++) await from('a@example.com', `2001:db8::${i + 1}`)
    expect(await from('a@example.com', '2001:db8::ffff')).toBe(LIMITED)
    expect(await from('a@example.com', '2001:db8:0:1::1')).toBe('401 sign_in_failed')
    expect(await from('b@example.com', '2001:db8::ffff')).toBe('401 sign_in_failed')
  })

  test('set-up, invitations and reset links are counted by the address', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    const attempts = [
      [
        '/v1/setup',
        { setup_token: 'x', email: 'a@b.example', password: 'a long password', organization: { name: 'x' } },
      ],
      ['/v1/invitations/accept', { token: 'x', password: 'a long password' }],
      ['/v1/session/password-reset', { reset_token: 'x', new_password: 'a long password' }],
    ] as const
    for (let i = 0; i < 10; i++) {
      const [path, body] = attempts[i % 3] as (typeof attempts)[number]
      expect((await plane.call('POST', path, { body, headers })).status).toBeLessThan(429)
    }
    for (const [path, body] of attempts) {
      expect((await plane.call('POST', path, { body, headers })).outcome).toBe(LIMITED)
    }
    const setup = { ...attempts[0][1], setup_token: SETUP_TOKEN }
    const elsewhere = { 'x-forwarded-for': '192.0.2.2' }
    expect((await plane.call('POST', '/v1/setup', { body: setup, headers: elsewhere })).outcome).toBe('201')
  })
})

test('3,000 calls a minute for a credential, each for itself', async () => {
  const tenant = await plane.insertTenant('acme')
  const { cookie } = tenant.people.viewer
  const get = async (by: { key?: string; cookie?: string }) =>
    await plane.call('GET', '/v1/catalog/providers?limit=1', by)
  for (let i = 0; i < 3000; i += 50) {
    await Promise.all(Array.from({ length: 50 }, () => get({ key: tenant.keys.viewer })))
  }
  const refused = await get({ key: tenant.keys.viewer })
  expect(refused.outcome).toBe(LIMITED)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect((await get({ key: tenant.keys.admin })).outcome).toBe('200')
  expect((await get({ cookie })).outcome).toBe('200')
  plane.clock.advance(60_000)
  expect((await get({ key: tenant.keys.viewer })).outcome).toBe('200')
}, 60_000)
