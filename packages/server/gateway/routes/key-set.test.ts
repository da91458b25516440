import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openTokenMint } from '../../testing/harness/token-mint.ts'

const MASTER_KEY = Buffer.alloc(32, 7)

let app: TestApp
beforeAll(async () => {
  app = await openTestApp({ RIDEAU_MASTER_KEY: MASTER_KEY.toString('base64') })
})
afterAll(() => app.close())

describe('GET /.well-known/jwks.json', () => {
  test('returns the current and the next public key without a credential, cacheable for five minutes', async () => {
    const response = await fetch(`${app.gatewayUrl}/.well-known/jwks.json`, {
      headers: { origin: 'https://anywhere.example' },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const { keys } = (await response.json()) as { keys: Record<string, string>[] }
    expect(keys).toHaveLength(2)
    for (const each of keys) {
      expect(Object.keys(each).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
      expect(each).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    }
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(2)
  })

  test('refuses a query parameter with 400 request_validation_failed', async () => {
    const response = await fetch(`${app.gatewayUrl}/.well-known/jwks.json?kid=1`)
    const { error } = (await response.json()) as { error: { code: string; param: string } }
    expect([response.status, error.code, error.param]).toEqual([400, 'request_validation_failed', 'kid'])
  })

  test.each(['POST', 'HEAD', 'DELETE'])('returns 404 for %s', async method => {
    expect((await fetch(`${app.gatewayUrl}/.well-known/jwks.json`, { method })).status).toBe(404)
  })
})

test('a token by a key that has left the key set is 401 key_expired, whatever its exp says', async () => {
  const { mint, signerId } = await openTokenMint(app, MASTER_KEY)
  const key = await app.createKey({})
  const ask = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${mint(key)}` }
    const response = await fetch(`${app.gatewayUrl}/v1/models`, { headers })
    const { error } = (await response.json()) as { error?: { code: string } }
    return `${response.status} ${error?.code ?? ''}`.trim()
  }
  expect(await ask()).toBe('200')
  const { pool } = app.database
  await pool.query(`update signing_keys set activates_at = activates_at - interval '31 days'`)
  await pool.query(`select pg_notify('rideau_config', 'signing_keys')`)
  await expect.poll(ask).toBe('401 key_expired')
  expect(await (await fetch(`${app.gatewayUrl}/.well-known/jwks.json`)).text()).not.toContain(signerId)
})
