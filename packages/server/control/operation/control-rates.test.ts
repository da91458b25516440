import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createKeyText } from '../../core/access/key-format.ts'
import { toBucketRate } from '../../core/admission/token-bucket.ts'
import { systemRandom } from '../../core/random.ts'
import { parseTrustedProxies, type TrustedProxies } from '../../http/head/client-address.ts'
import {
  type ControlPlane,
  openControlPlane,
  PASSWORD,
  type Person,
  SETUP_TOKEN,
} from '../../testing/harness/control-plane.ts'
import { openRaw, type RawConnection } from '../../testing/harness/raw-connection.ts'
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

  test('wrong guesses at set-up, invitations and reset links are counted per address, each for itself', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    const setup = { email: 'a@b.example', password: 'a long password', organization: { name: 'x' } }
    const attempts = [
      ['/v1/setup', { ...setup, setup_token: 'x' }],
      ['/v1/invitations/lookup', { token: 'x' }],
      ['/v1/invitations/accept', { token: 'x', password: 'a long password' }],
      ['/v1/session/password-reset', { reset_token: 'x', new_password: 'a long password' }],
    ] as const
    for (const [path, body] of attempts) {
      for (let i = 0; i < 10; i++) {
        expect((await plane.call('POST', path, { body, headers })).status).toBeLessThan(429)
      }
      expect((await plane.call('POST', path, { body, headers })).outcome).toBe(LIMITED)
      plane.clock.advance(1000)
    }
    const body = { ...setup, setup_token: SETUP_TOKEN }
    expect((await plane.call('POST', '/v1/setup', { body, headers })).outcome).toBe(LIMITED)
    const elsewhere = { 'x-forwarded-for': '192.0.2.2' }
    expect((await plane.call('POST', '/v1/setup', { body, headers: elsewhere })).outcome).toBe('201')
  })

  test('right secrets of one address are not counted, and give no wrong guess back', async () => {
    const { organization, people } = await plane.insertTenant('office')
    const post = (path: string, body: object) =>
      plane.call<any>('POST', path, { body, headers: { 'x-forwarded-for': '192.0.2.1' } })
    const tokens: string[] = []
    for (let i = 0; i < 12; i++) {
      const body = { email: `colleague-${i}@example.com`, role: 'viewer' }
      const invitation = await plane.call<any>('POST', `/v1/orgs/${organization.id}/members`, {
        cookie: people.owner.cookie,
        body,
      })
      tokens.push(invitation.json.accept_url.split('token=')[1])
    }
    const accept = async (token: string) =>
      (await post('/v1/invitations/accept', { token, password: 'a long password' })).outcome
    for (let i = 0; i < 9; i++) expect(await accept('wrong')).toBe('404 resource_not_found token')
    for (const token of tokens.slice(0, 11)) {
      expect((await post('/v1/invitations/lookup', { token })).outcome).toBe('200')
      expect(await accept(token)).toBe('200')
    }
    expect(await accept('wrong')).toBe('404 resource_not_found token')
    expect([await accept('wrong'), await accept(tokens[11] as string)]).toEqual([LIMITED, LIMITED])
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

describe('calls without a valid credential', () => {
  const addressRate = toBucketRate(2, 5)
  const headers = { 'x-forwarded-for': '192.0.2.1' }

  test('are limited per address before a look-up; credentials that were valid before are not', async () => {
    const trustedProxies = parseTrustedProxies(['127.0.0.1']) as TrustedProxies
    const few = await openControlPlane({ trustedProxies }, { bodyTimeoutMs: 60_000, addressRate })
    try {
      const { keys, people, organization } = await few.insertTenant('acme')
      const path = `/v1/orgs/${organization.id}`
      const get = async (by: { key?: string; cookie?: string }, from = headers) =>
        (await few.call('GET', path, { ...by, headers: from })).outcome
      const { cookie } = people.viewer
      // A valid credential's own call is not counted.
      for (let i = 0; i < 15; i++) expect(await get({ key: keys.viewer })).toBe('200')
      expect(await get({ cookie })).toBe('200')
      const guess = createKeyText({ kind: 'management' }, systemRandom)
      for (let i = 0; i < 9; i++) {
        expect(await get(i % 2 === 0 ? { key: guess } : { cookie: 'rideau_session=x' })).toMatch(/^401/)
      }
      const body = { email: 'a@b.example', password: 'a long password' }
      expect((await few.call('POST', '/v1/session', { body, headers })).outcome).toBe('401 sign_in_failed')
      for (const by of [{ key: guess }, {}, { key: keys.admin }]) expect(await get(by)).toBe(LIMITED)
      expect((await few.call('POST', '/v1/session', { body, headers })).outcome).toBe(LIMITED)
      expect([await get({ key: keys.viewer }), await get({ cookie })]).toEqual(['200', '200'])
      expect(await get({ key: keys.admin }, { 'x-forwarded-for': '192.0.2.2' })).toBe('200')
      few.clock.advance(500)
      expect(await get({ key: guess })).toMatch(/^401/)
      expect(await get({ key: guess })).toBe(LIMITED)
    } finally {
      await few.close()
    }
  })
})

test('bodies of one address are bounded together, and another address still has room', async () => {
  const trustedProxies = parseTrustedProxies(['127.0.0.1']) as TrustedProxies
  const few = await openControlPlane({ trustedProxies }, { bodyTimeoutMs: 60_000, bodyBytes: 1024 * 1024 })
  try {
    const { organization, keys } = await few.insertTenant('acme')
    const open = async (address: string, length: number): Promise<RawConnection> => {
      const raw = await openRaw(few.url)
      raw.socket.write(
        `POST /v1/orgs/${organization.id}/projects HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${keys.admin}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`,
      )
      return raw
    }
    const slow = await Promise.all(Array.from({ length: 20 }, () => open('192.0.2.1', 100_000)))
    const create = async (address: string, name: string): Promise<string> => {
      const headers = { 'x-forwarded-for': address }
      const path = `/v1/orgs/${organization.id}/projects`
      return (await few.call('POST', path, { key: keys.admin, body: { name }, headers })).outcome
    }
    const long = 'x'.repeat(100_000)
    await expect.poll(() => create('192.0.2.1', long)).toBe(LIMITED)
    expect(await create('192.0.2.2', 'Shop')).toBe('201')
    for (const { socket } of slow) socket.destroy()
    await expect.poll(() => create('192.0.2.1', long)).toMatch(/^400 /)
  } finally {
    await few.close()
  }
}, 60_000)
