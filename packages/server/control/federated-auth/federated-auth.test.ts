import type { ErrorEnvelope } from '@rideau/llm/formats/shared/errors/error-envelope'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import {
  DISCOVERY,
  type IdentityProvider,
  KEYS,
  openIdentityProvider,
} from '../../testing/fakes/identity-provider.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import type { z } from '../operation/zod.ts'
import type { FederatedAuthResource } from './federated-auth-resource.ts'

type FederatedAuth = z.output<typeof FederatedAuthResource>
interface TokenTest {
  valid: boolean
  end_user_id: string | null
  plan: string | null
  reason: string | null
}

let plane: ControlPlane
let tenant: Tenant
let idp: IdentityProvider
let path: string
let key: string
beforeAll(async () => {
  plane = await openControlPlane()
})
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
  idp = await openIdentityProvider()
  path = `/v1/projects/${tenant.project.id}/federated-auth`
  key = tenant.keys.admin
})
afterEach(() => idp.close())
afterAll(() => plane.close())

const put = (change: object = {}) =>
  plane.call<FederatedAuth>('PUT', path, {
    key,
    body: { issuer: idp.issuer, audiences: ['app'], ...change },
  })
const invalid = (field: string): string => `400 federated_config_invalid ${field}`

test('a configuration is 404 before it is set; it is set, read, replaced as a whole and removed', async () => {
  const viewer = { key: tenant.keys.viewer }
  expect((await plane.call('GET', path, viewer)).outcome).toBe('404 resource_not_found')
  expect((await plane.call('DELETE', path, { key })).outcome).toBe('404 resource_not_found')
  for (const method of ['GET', 'DELETE'] as const) {
    const { text } = await plane.call(method, path, { key })
    expect(text).toContain('This project has no federated auth: it is not configured.')
  }
  const set = await put()
  const now = new Date(plane.clock.now()).toISOString()
  expect(set.status).toBe(200)
  expect(set.json).toEqual({
    project_id: tenant.project.id,
    issuer: idp.issuer,
    audiences: ['app'],
    authorized_parties: null,
    jwks_url: null,
    algorithms: ['RS256', 'ES256'],
    user_id_claim: 'sub',
    plan_claim: null,
    required_claims: {},
    clock_tolerance_seconds: 30,
    max_token_age_seconds: 86400,
    created_at: now,
    updated_at: now,
  })
  expect(idp.asked).toEqual([DISCOVERY, KEYS])
  expect((await plane.call('GET', path, viewer)).json).toEqual(set.json)
  plane.clock.advance(1000)
  const settings = {
    issuer: [idp.issuer, 'accounts.google.com'],
    audiences: null,
    authorized_parties: ['web'],
    jwks_url: idp.jwksUrl,
    algorithms: ['ES256', 'EdDSA'],
    user_id_claim: 'uid',
    plan_claim: 'https://example.com/plan',
    clock_tolerance_seconds: 0,
    max_token_age_seconds: 600,
  }
  const replaced = await put({ ...settings, required_claims: { role: 'user', tid: ['a', 7, true] } })
  expect(replaced.json).toEqual({
    project_id: tenant.project.id,
    ...settings,
    required_claims: { role: ['user'], tid: ['a', 7, true] },
    created_at: now,
    updated_at: new Date(plane.clock.now()).toISOString(),
  })
  expect((await plane.call('DELETE', path, { key })).status).toBe(204)
  expect((await plane.call('GET', path, viewer)).outcome).toBe('404 resource_not_found')
})

describe('400 federated_config_invalid, and nothing is stored', () => {
  const refused = async (field: string, change: object = {}) => {
    expect((await put(change)).outcome).toBe(invalid(field))
    expect((await plane.call('GET', path, { key })).outcome).toBe('404 resource_not_found')
  }

  test.each([
    [{ issuer: 'not-a-url' }, 'issuer'],
    [{ issuer: 'accounts.google.com' }, 'issuer'],
    [{ issuer: ['https://a.example', 'ftp://b.example'] }, 'issuer'],
    [{ issuer: 'https://user:pass@a.example' }, 'issuer'],
    [{ issuer: 'http://169.254.169.254' }, 'issuer'],
    [{ jwks_url: 'file:///etc/passwd' }, 'jwks_url'],
    [{ jwks_url: 'http://169.254.169.254/keys' }, 'jwks_url'],
    [{ audiences: null }, 'audiences'],
    [{ audiences: [] }, 'audiences'],
    [{ authorized_parties: ['web'] }, 'audiences'],
    [{ algorithms: [] }, 'algorithms'],
    [{ algorithms: ['none'] }, 'algorithms'],
    [{ algorithms: ['ES256', 'HS256'] }, 'algorithms'],
    [{ algorithms: ['RS256'] }, 'algorithms'],
  ])('%j', async (change, field) => {
    await refused(field, change)
  })

  test.each([
    ['is missing', { status: 404, body: {} }],
    ['fails', { status: 500, body: { secret: 'canary' } }],
    ['redirects', { status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' }],
    ['is not JSON', { body: '<html>canary</html>' }],
    ['is larger than 512 KiB', { body: `{"keys":[]${' '.repeat(512 * 1024)}}` }],
    ['is not a key set', { body: [] }],
    ['has entries that are not keys', { body: { keys: ['a'] } }],
    ['is empty', { body: { keys: [] } }],
    ['has a secret only', { body: { keys: [{ kty: 'oct', k: 'AAAA', alg: 'HS256' }] } }],
    ['has too many keys', { body: { keys: Array.from({ length: 51 }, () => ({ kty: 'EC' })) } }],
  ])('the key set %s', async (_, answer) => {
    idp.answers.set(KEYS, answer)
    const byUrl = await plane.call<ErrorEnvelope>('PUT', path, {
      key,
      body: { issuer: idp.issuer, audiences: ['app'], jwks_url: idp.jwksUrl },
    })
    expect(byUrl.outcome).toBe(invalid('jwks_url'))
    expect(byUrl.json.error.message).not.toMatch(/canary|127\.0\.0\.1|169\.254/)
    await refused('issuer')
  })

  test('rejects a key set that has only encryption keys, private keys or keys that are too short', async () => {
    const rsa = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true })
    const short = { kty: 'RSA', n: Buffer.alloc(128, 0xff).toString('base64url'), e: 'AQAB' }
    for (const jwk of [
      { ...idp.publicKey, use: 'enc' },
      await exportJWK(rsa.privateKey),
      short,
      { ...idp.publicKey, x: 'AAAA' },
    ]) {
      idp.answers.set(KEYS, { body: { keys: [jwk] } })
      await refused('issuer')
    }
  })

  test.each([
    ['is missing', { status: 404, body: {} }],
    ['names another issuer', { body: { issuer: 'https://other.example', jwks_uri: 'x' } }],
    ['names no key set', () => ({ body: { issuer: idp.issuer } })],
    [
      'names a forbidden key set',
      () => ({ body: { issuer: idp.issuer, jwks_uri: 'http://169.254.169.254' } }),
    ],
  ])('the discovery document %s', async (_, answer) => {
    idp.answers.set(DISCOVERY, typeof answer === 'function' ? answer() : answer)
    await refused('issuer')
    expect(idp.asked).toEqual([DISCOVERY])
  })

  test('rejects a host that cannot be reached', async () => {
    const gone = await openIdentityProvider()
    await gone.close()
    await refused('issuer', { issuer: gone.issuer })
  })
})

test('rejects a private address with 400 federated_config_invalid if they are not allowed', async () => {
  const closed = await openControlPlane({ egress: openConfiguredEgress({ allowPrivate: false }) })
  try {
    const there = await closed.insertTenant('acme')
    const closedPath = `/v1/projects/${there.project.id}/federated-auth`
    for (const [body, field] of [
      [{ issuer: idp.issuer }, 'issuer'],
      [{ issuer: 'https://issuer.example', jwks_url: idp.jwksUrl }, 'jwks_url'],
      [{ issuer: 'https://localhost' }, 'issuer'],
    ] as const) {
      const { outcome } = await closed.call('PUT', closedPath, {
        key: there.keys.admin,
        body: { audiences: ['app'], ...body },
      })
      expect(outcome).toBe(invalid(field))
    }
    expect(idp.asked).toEqual([])
  } finally {
    await closed.close()
  }
})

test.each([
  [{ issuer: [] }, 'issuer'],
  [{ issuer: ['a', 'b', 'c', 'd', 'e'] }, 'issuer'],
  [{ issuer: 'https://a b' }, 'issuer'],
  [{ issuer: undefined }, 'issuer'],
  [{ audiences: 'app' }, 'audiences'],
  [{ required_claims: { role: {} } }, 'required_claims.role'],
  [{ clock_tolerance_seconds: 301 }, 'clock_tolerance_seconds'],
  [{ max_token_age_seconds: 0 }, 'max_token_age_seconds'],
  [{ jwks_uri: 'https://a.example' }, 'jwks_uri'],
])('400 invalid_request: %j', async (change, param) => {
  expect((await put(change)).outcome).toBe(`400 invalid_request ${param}`)
})

describe('test', () => {
  const tryToken = (identity_token: string) =>
    plane.call<TokenTest>('POST', `${path}/test`, { key, body: { identity_token } })

  test('returns the end user and the plan of a valid token', async () => {
    await put({ plan_claim: 'plan' })
    const token = await idp.sign({ plan: 'pro' }, plane.clock.now())
    const { status, json } = await tryToken(token)
    expect([status, json]).toEqual([200, { valid: true, end_user_id: 'alice', plan: 'pro', reason: null }])
  })

  test('returns the reason why a token is rejected, without repeating the token', async () => {
    await put()
    const token = await idp.sign({ aud: 'canary' }, plane.clock.now())
    const answer = await tryToken(token)
    expect(answer.json).toEqual({
      valid: false,
      end_user_id: null,
      plan: null,
      reason: expect.stringContaining('aud'),
    })
    expect(answer.text).not.toContain('canary')
  })

  test('fetches the current keys', async () => {
    await put()
    const token = await idp.sign({}, plane.clock.now())
    const other = await exportJWK((await generateKeyPair('ES256')).publicKey)
    idp.answers.set(KEYS, { body: { keys: [{ ...other, kid: 'two' }] } })
    expect((await tryToken(token)).json.valid).toBe(false)
    idp.answers.set(KEYS, { status: 500, body: {} })
    expect((await tryToken(token)).outcome).toBe(invalid('issuer'))
  })

  test("asks the token's own issuer alone, so another one that does not respond prevents nothing", async () => {
    const other = await openIdentityProvider()
    await put({ issuer: [other.issuer, idp.issuer] })
    await other.close()
    const tokenOf = (iss: string) => idp.sign({ iss }, plane.clock.now())
    expect((await tryToken(await tokenOf(idp.issuer))).json).toMatchObject({ valid: true })
    expect((await tryToken(await tokenOf(other.issuer))).outcome).toBe(invalid('issuer'))
    const stranger = await tryToken(await tokenOf('https://stranger.example'))
    expect(stranger.json.reason).toBe('Its iss is not a configured issuer.')
  })

  test('answers 400 federated_auth_not_configured without a configuration', async () => {
    expect((await tryToken('x')).outcome).toBe('400 federated_auth_not_configured')
  })

  test('adds no entry to the audit log and logs no token', async () => {
    await put()
    const token = await idp.sign({}, plane.clock.now())
    await tryToken(token)
    const { rows } = await plane.database.pool.query('select operation from audit_log where org_id = $1', [
      tenant.organization.id,
    ])
    expect(rows).toEqual([{ operation: 'federated_auth.put' }])
    expect(plane.logged()).not.toContain(token)
  })
})

test('calls that wait for a slow identity provider do not block other calls', async () => {
  await put()
  const token = await idp.sign({}, plane.clock.now())
  let release: () => void = () => {}
  const after = new Promise<void>(resolve => {
    release = resolve
  })
  idp.answers.set(DISCOVERY, { body: { issuer: idp.issuer, jwks_uri: idp.jwksUrl }, after })
  idp.asked.length = 0
  // Several times the connections of the test's pool.
  const each = plane.database.pool.options.max * 3
  const tries = Array.from({ length: each }, () =>
    plane.call<TokenTest>('POST', `${path}/test`, { key, body: { identity_token: token } }),
  )
  const puts = Array.from({ length: each }, () => put())
  await expect.poll(() => idp.asked.length, { timeout: 30_000 }).toBe(2 * each)
  expect((await plane.call('GET', path, { key })).status).toBe(200)
  release()
  for (const { json } of await Promise.all(tries)) expect(json.valid).toBe(true)
  for (const { status } of await Promise.all(puts)) expect(status).toBe(200)
})
