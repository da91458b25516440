import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseTrustedProxies } from '../../http/client-address.ts'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Person,
  SETUP_TOKEN,
} from '../../testing/harness/control-plane.ts'
import { openControlRates } from './control-rates.ts'

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
  test('the eleventh is 429, even with the right password; a retry after Retry-After is admitted', async () => {
    const { email } = (await plane.insertPerson()).user
    for (let i = 0; i < 10; i++) {
      expect((await signIn(email)).outcome).toBe('401 sign_in_failed')
      plane.clock.advance(500)
    }
    const refused = await signIn(email, undefined, PASSWORD)
    expect(refused.outcome).toBe(LIMITED)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBe(55)
    plane.clock.advance(seconds * 1000 - 1)
    expect((await signIn(email, undefined, PASSWORD)).outcome).toBe(LIMITED)
    plane.clock.advance(1)
    expect((await signIn(email)).outcome).toBe('401 sign_in_failed')
  })

  test('accounts and addresses are counted separately, IPv6 addresses by their /64', async () => {
    const [ada, bob] = [await plane.insertPerson(), await plane.insertPerson()]
    const from = async (person: Person, address: string) => (await signIn(person.user.email, address)).outcome
    for (let i = 0; i < 10; i++) await from(ada, `2001:db8::${i + 1}`)
    expect(await from(ada, '2001:db8::ffff')).toBe(LIMITED)
    expect(await from(ada, '2001:db8:0:1::1')).toBe('401 sign_in_failed')
    expect(await from(bob, '2001:db8::ffff')).toBe('401 sign_in_failed')
  })

  test('an address has 100 sign-ins over all accounts, existing or not', () => {
    const rates = openControlRates({ now: () => 0 })
    for (let i = 0; i < 100; i++) rates.countSignIn(`${i}@example.com`, '192.0.2.1')
    expect(() => rates.countSignIn('new@example.com', '192.0.2.1')).toThrow('Too many attempts')
    expect(() => rates.countSignIn('new@example.com', '192.0.2.2')).not.toThrow()
  })

  test('set-up, invitations and reset links are counted per address', async () => {
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

describe('3,000 calls a minute for a credential', () => {
  test('rejects the 3,001st call until the first is a minute old', () => {
    let now = 0
    const rates = openControlRates({ now: () => now })
    for (let i = 0; i < 3000; i++) {
      rates.countCall('a')
      now += 10
    }
    expect(() => rates.countCall('a')).toThrow(
      expect.objectContaining({ code: 'control_rate_limit_exceeded', retryAfterSeconds: 30 }),
    )
    now = 60_000
    expect(() => rates.countCall('a')).not.toThrow()
  })

  test('counts each key and session separately, before any other check', async () => {
    const few = await openControlPlane({}, { bodyTimeoutMs: 60_000, callsPerMinute: 3 })
    try {
      const { keys, people } = await few.insertTenant('acme')
      const get = async (by: { key?: string; cookie?: string }) =>
        await few.call('GET', '/v1/orgs/no-uuid', by)
      for (const by of [{ key: keys.viewer }, { key: keys.admin }, { cookie: people.viewer.cookie }]) {
        for (let i = 0; i < 3; i++) expect((await get(by)).status).toBe(400)
        const refused = await get(by)
        expect([refused.outcome, refused.headers.get('retry-after')]).toEqual([LIMITED, '60'])
      }
      few.clock.advance(60_000)
      expect((await get({ key: keys.viewer })).status).toBe(400)
    } finally {
      await few.close()
    }
  })
})
