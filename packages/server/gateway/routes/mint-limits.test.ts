import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { type Outcome, shorten } from '../../testing/harness/device-app.ts'

const BODY = { end_user: { id: 'alice' }, scopes: ['ai.chat'] }

let app: TestApp
let secret: { id: string; key: string }
beforeAll(async () => {
  app = await openTestApp({ RIDEAU_TRUSTED_PROXIES: '127.0.0.1' })
})
afterAll(() => app.close())
beforeEach(async () => {
  secret = await app.createKey({})
})

describe('the mint limits', () => {
  const times = async (count: number, call: () => Promise<Outcome>): Promise<string[]> =>
    (await Promise.all(Array.from({ length: count }, call))).map(shorten)
  const from = async (ip: string, key = secret.key, body: unknown = BODY): Promise<Outcome> => {
    const headers = { 'x-forwarded-for': ip }
    const response = await app.call('/v1/client-tokens', body, { key, headers })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  test('allow an address 60 requests a minute with any keys, an IPv6 address by its /64', async () => {
    const first = await times(60, () => from('2001:db8:0:1::1'))
    expect(new Set(first)).toEqual(new Set(['201']))
    const other = await app.createKey({})
    const refused = await from('2001:db8:0:1:ffff::2', other.key)
    expect(shorten(refused)).toBe('429 mint_rate_limit_exceeded')
    expect(refused.body.error.message).toMatch(
      /^This address asks .* 60 times a minute: limit 60, settled 60, held 0, wanted 1; resets at \d{4}-\S+Z\.$/,
    )
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    expect(shorten(await from('2001:db8:0:2::1', other.key))).toBe('201')
    // Whatever a client writes in front of its own address.
    expect(shorten(await from('198.51.100.9, 2001:db8:0:1::3', other.key))).toBe(
      '429 mint_rate_limit_exceeded',
    )
  })

  test('allow a key 120 requests a minute, of all its routes, and do not count what they refuse', async () => {
    const ips = ['198.51.100.1', '198.51.100.2', '198.51.100.3']
    const minted = [
      ...(await times(60, () => from(ips[0] as string))),
      ...(await times(55, () => from(ips[1] as string))),
    ]
    expect(new Set(minted)).toEqual(new Set(['201']))
    // A request that is invalid counts as one that is not.
    const invalid = () => from(ips[2] as string, secret.key, {})
    expect(new Set(await times(5, invalid))).toEqual(new Set(['400 invalid_request end_user']))
    expect(new Set(await times(70, () => from(ips[2] as string)))).toEqual(
      new Set(['429 mint_rate_limit_exceeded']),
    )
    // Those 70 were counted for neither the key nor the address.
    const other = await app.createKey({})
    expect(new Set(await times(55, () => from(ips[2] as string, other.key)))).toEqual(new Set(['201']))
    expect(shorten(await from(ips[2] as string, other.key))).toBe('429 mint_rate_limit_exceeded')
  })
})
