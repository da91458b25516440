import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type IdentityProvider, openIdentityProvider } from '../../testing/fakes/identity-provider.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { type Outcome, shorten } from '../../testing/harness/device-app.ts'

let app: TestApp
let idp: IdentityProvider
let publishable: { id: string; key: string }
beforeAll(async () => {
  app = await openTestApp({ RIDEAU_TRUSTED_PROXIES: '127.0.0.1' })
  idp = await openIdentityProvider()
})
afterAll(async () => {
  await idp.close()
  await app.close()
})

/** Each test has a key and an address of its own, so that the mint limits of one do not concern another. */
let secret: { id: string; key: string }
let address = 0
beforeEach(async () => {
  address++
  secret = await app.createKey({})
  publishable = await app.createKey({ kind: 'publishable' })
})

const BODY = { end_user: { id: 'alice' }, scopes: ['ai.chat'] }

async function mint(
  body: unknown = BODY,
  { key = secret.key, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
): Promise<Outcome> {
  const from = { 'x-forwarded-for': `203.0.113.${address}`, ...headers }
  const response = await app.call('/v1/client-tokens', body, { key, headers: from })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
async function chat(key: string, headers = {}): Promise<string> {
  const response = await app.call('/v1/chat', CHAT, { key, headers })
  return shorten({ status: response.status, body: await response.json() })
}
const endUsers = async (): Promise<any[]> =>
  (await app.manage('GET', `/v1/environments/${app.developmentId}/end-users?limit=100`)).body.data
const findEndUser = async (id: string): Promise<any> =>
  (await endUsers()).find(each => each.external_id === id)

describe('with a secret key', () => {
  test('makes a token with the documented fields, headers and claims', async () => {
    const { status, headers, body } = await mint({
      end_user: { id: 'alice', plan: 'gold', attributes: { tier: 1 } },
      scopes: ['feedback', 'ai.chat', 'ai.chat'],
    })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(Object.keys(body)).toEqual(['token', 'expires_at', 'end_user_id'])
    expect(body.end_user_id).toBe('alice')
    expect(decodeProtectedHeader(body.token)).toEqual({
      alg: 'ES256',
      kid: expect.any(String),
      typ: 'ct+jwt',
    })
    const claims = decodeJwt(body.token)
    expect(claims).toEqual({
      iss: app.gatewayUrl,
      aud: 'rideau',
      sub: 'alice',
      org: app.orgId,
      prj: app.projectId,
      env: app.developmentId,
      scope: 'ai.chat feedback',
      plan: 'gold',
      amr: 'secret_key',
      pk: secret.id,
      ver: 1,
      iat: expect.any(Number),
      nbf: claims.iat,
      exp: (claims.iat ?? 0) + 900,
      jti: expect.any(String),
    })
    expect(Date.parse(body.expires_at)).toBe((claims.exp ?? 0) * 1000)
    expect(await chat(body.token)).toBe('200')
    expect((await findEndUser('alice')).attributes).toEqual({ tier: 1 })
  })

  test('accepts the synonyms external_id and expires_in', async () => {
    const { body } = await mint({ end_user: { external_id: 'bob' }, scopes: ['ai.chat'], expires_in: 60 })
    const { sub, exp = 0, iat = 0 } = decodeJwt(body.token)
    expect([sub, exp - iat]).toEqual(['bob', 60])
    expect(shorten(await mint({ ...BODY, ttl_seconds: 60, expires_in: 60 }))).toBe(
      '400 invalid_request expires_in',
    )
  })

  test.each<[string, object, string]>([
    ['no end user', { end_user: undefined }, '400 invalid_request end_user'],
    ['no id', { end_user: {} }, '400 invalid_request end_user.id'],
    ['an empty id', { end_user: { id: '' } }, '400 invalid_request end_user.id'],
    ['an id of 255 characters', { end_user: { id: 'x'.repeat(255) } }, '201'],
    ['an id of 256 characters', { end_user: { id: 'x'.repeat(256) } }, '400 invalid_request end_user.id'],
    ['an id with NUL', { end_user: { id: 'a\0b' } }, '400 invalid_request end_user.id'],
    ["a device's id", { end_user: { id: 'device:x' } }, '400 invalid_request end_user.id'],
    ["a member's id", { end_user: { id: 'member:x' } }, '400 invalid_request end_user.id'],
    ['an unknown field of the end user', { end_user: { id: 'a', x: 1 } }, '400 invalid_request end_user.x'],
    ['another case of end_user', { END_USER: { id: 'b' } }, '400 request_validation_failed END_USER'],
    ['another case of scopes', { Scopes: [] }, '400 request_validation_failed Scopes'],
    ['another case of ttl_seconds', { ttl_Seconds: 9 }, '400 request_validation_failed ttl_Seconds'],
    ['an identity token', { identity_token: 'x' }, '400 invalid_request identity_token'],
    ['no scopes', { scopes: undefined }, '400 invalid_scope scopes'],
    ['an empty list of scopes', { scopes: [] }, '400 invalid_scope scopes'],
    ['an unknown scope', { scopes: ['ai.chat', 'admin'] }, '400 invalid_scope scopes'],
    ['scopes of another type', { scopes: 'ai.chat' }, '400 invalid_request scopes'],
    ['a lifetime of 0', { ttl_seconds: 0 }, '400 invalid_request ttl_seconds'],
    ['a lifetime of 3600', { ttl_seconds: 3600 }, '201'],
    ['a lifetime of 3601', { ttl_seconds: 3601 }, '400 invalid_request ttl_seconds'],
    ['a fraction of a second', { ttl_seconds: 1.5 }, '400 invalid_request ttl_seconds'],
    ['null on optional fields', { ttl_seconds: null, end_user: { id: 'a', plan: null } }, '201'],
    ["null on an app's fields", { identity_token: null, id_token: null }, '201'],
  ])('answers %s with %s', async (_, change, expected) => {
    const outcome = await mint({ ...BODY, ...change })
    expect([shorten(outcome), outcome.headers.get('cache-control')]).toEqual([expected, 'no-store'])
  })

  test('counts the attributes by the bytes of their compact JSON, at most 4096, as the control plane does', async () => {
    const body = (attributes: string): string =>
      `{"scopes":["ai.chat"],"end_user":{"id":"sized","attributes": ${attributes} }}`
    const sized = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`
    expect(sized(4096)).toHaveLength(4096)
    expect(shorten(await mint(body(sized(4096))))).toBe('201')
    expect(shorten(await mint(body(sized(4097))))).toBe('400 attributes_too_large end_user.attributes')
    // Spaces and escapes of the body do not count: 708 bytes, and two.
    expect(shorten(await mint(body(`{"a":"${'\\u0041'.repeat(700)}"}`)))).toBe('201')
    expect(shorten(await mint(body(`{${' '.repeat(4095)}}`)))).toBe('201')
    expect(shorten(await mint(body(`{${' '.repeat(65_536)}}`)))).toBe(
      '400 attributes_too_large end_user.attributes',
    )
    expect(shorten(await mint(body('{"a":"\\u0000"}')))).toBe('400 invalid_request end_user.attributes')
    expect(shorten(await mint(body('[]')))).toBe('400 invalid_request end_user.attributes')
  })

  test('rejects scopes that the key lacks, and carries its restrictions', async () => {
    const { key } = await app.createKey({
      scopes: ['ai.chat'],
      restrictions: { allowed_models: ['sandbox/tools'] },
    })
    expect(shorten(await mint({ ...BODY, scopes: ['ai.embed'] }, { key }))).toBe('400 invalid_scope scopes')
    const { body } = await mint(BODY, { key })
    expect(await chat(body.token)).toBe('403 model_not_allowed model')
  })

  test('ends a token with its key at the latest', async () => {
    const end = new Date(Math.ceil(Date.now() / 1000) * 1000 + 30_000)
    const { key } = await app.createKey({ expires_at: end.toISOString() })
    const { body } = await mint(BODY, { key })
    expect(body.expires_at).toBe(end.toISOString())
  })

  test('is refused with an Origin, to a key without the endpoint, and to a client token', async () => {
    expect(shorten(await mint(BODY, { headers: { origin: 'https://a.example' } }))).toBe(
      '403 endpoint_not_allowed',
    )
    const { key } = await app.createKey({ restrictions: { allowed_endpoints: ['chat'] } })
    expect(shorten(await mint(BODY, { key }))).toBe('403 endpoint_not_allowed')
    const { body } = await mint()
    expect(shorten(await mint(BODY, { key: body.token }))).toBe('403 client_token_cannot_mint')
  })

  test('gives a blocked end user no token, and ends the ones it has', async () => {
    const { body } = await mint({ ...BODY, end_user: { id: 'mallory' } })
    const { id } = await findEndUser('mallory')
    await app.manage('POST', `/v1/end-users/${id}/block`)
    expect(await chat(body.token)).toBe('403 end_user_blocked')
    expect(shorten(await mint({ ...BODY, end_user: { id: 'mallory' } }))).toBe('403 end_user_blocked')
    await app.manage('POST', `/v1/end-users/${id}/unblock`)
    expect(await chat(body.token)).toBe('200')
    await app.manage('POST', `/v1/keys/${secret.id}/revoke`)
    expect(await chat(body.token)).toBe('401 key_revoked')
  })

  test('gives an end user that a chat names a record, which can be blocked', async () => {
    expect(await chat(app.secretKey, { 'x-rideau-end-user': 'named' })).toBe('200')
    await expect.poll(() => findEndUser('named')).toBeDefined()
    const { id } = await findEndUser('named')
    await app.manage('POST', `/v1/end-users/${id}/block`)
    expect(await chat(app.secretKey, { 'x-rideau-end-user': 'named' })).toBe('403 end_user_blocked')
  })

  test("blocks a member's end user of the playground as any other", async () => {
    const make = () => app.manage('POST', `/v1/environments/${app.developmentId}/playground-token`)
    const { body } = await make()
    const { id } = await findEndUser(body.end_user_id)
    await app.manage('POST', `/v1/end-users/${id}/block`)
    expect(await chat(body.token)).toBe('403 end_user_blocked')
    expect(shorten(await make())).toBe('403 end_user_blocked')
  })

  test("takes the record's plan before the backend's, also after it changed", async () => {
    const plans = `/v1/environments/${app.developmentId}/plans`
    await app.manage('POST', plans, { name: 'images', scopes: ['ai.images'] })
    await app.manage('POST', plans, { name: 'chats', scopes: ['ai.chat'] })
    const alone = { ...BODY, end_user: { id: 'planned', plan: 'images' } }
    const first = (await mint(alone)).body.token
    expect(decodeJwt(first).plan).toBe('images')
    expect(await chat(first)).not.toBe('200')
    const { id } = await findEndUser('planned')
    await app.manage('PATCH', `/v1/end-users/${id}`, { plan: 'chats' })
    expect(await chat(first)).toBe('200')
    const second = (await mint(alone)).body.token
    expect(decodeJwt(second).plan).toBe('chats')
    expect(await chat(second)).toBe('200')
    await app.manage('PATCH', `/v1/end-users/${id}`, { plan: 'images' })
    expect(await chat(second)).not.toBe('200')
  })
})

describe('with a publishable key', () => {
  const ORIGIN = 'https://app.example'
  const federated = (change: object = {}) =>
    app.manage('PUT', `/v1/projects/${app.projectId}/federated-auth`, {
      issuer: idp.issuer,
      jwks_url: idp.jwksUrl,
      audiences: ['app'],
      plan_claim: 'plan',
      ...change,
    })
  const remove = () => app.manage('DELETE', `/v1/projects/${app.projectId}/federated-auth`)
  const exchange = async (
    token: unknown,
    change: object = {},
    options: { key?: string; headers?: Record<string, string> } = {},
  ) => mint({ identity_token: token, scopes: ['ai.chat'], ...change }, { key: publishable.key, ...options })

  beforeEach(async () => {
    await federated()
  })

  test('exchanges an identity token, by either name, for a token of its user', async () => {
    const token = await idp.sign({ sub: 'auth0|carol', plan: 'chats' }, Date.now())
    const { status, body } = await exchange(token, { end_user: { attributes: { a: 1 }, plan: 'ignored' } })
    expect([status, body.end_user_id]).toEqual([201, 'auth0|carol'])
    const { amr, pk, plan, sub } = decodeJwt(body.token)
    expect({ amr, pk, plan, sub }).toEqual({
      amr: 'federated',
      pk: publishable.id,
      plan: 'chats',
      sub: 'auth0|carol',
    })
    expect(await chat(body.token)).toBe('200')
    expect((await findEndUser('auth0|carol')).attributes).toEqual({ a: 1 })
    const again = await exchange(null, { id_token: token, end_user: { id: null, external_id: null } })
    expect(again.body.end_user_id).toBe('auth0|carol')
  })

  test('is refused where the project has no federated auth', async () => {
    await remove()
    const token = await idp.sign({}, Date.now())
    expect(shorten(await exchange(token))).toBe('400 federated_auth_not_configured')
  })

  test.each<[string, object, string]>([
    ['no identity token', { identity_token: undefined }, '400 invalid_request identity_token'],
    ['an identity token that is no text', { identity_token: 1 }, '400 invalid_request identity_token'],
    ["an end user's id", { end_user: { id: 'x' } }, '400 invalid_request end_user.id'],
    ['an unknown scope', { scopes: ['x'] }, '400 invalid_scope scopes'],
  ])('answers %s with %s', async (_, change, expected) => {
    const token = await idp.sign({}, Date.now())
    expect(shorten(await exchange(token, change))).toBe(expected)
  })

  test('rejects invalid tokens, ones of 1 MB too, with one answer', async () => {
    const now = Date.now()
    const tokens = [
      'x',
      'x'.repeat(1_000_000),
      await idp.sign({ aud: 'other' }, now),
      await idp.sign({ iss: 'https://other.example' }, now),
      await idp.sign({ sub: 'device:x' }, now),
      await idp.sign({ sub: 'member:x' }, now),
      await idp.sign({}, now - 3_600_000),
    ]
    for (const token of tokens) {
      const outcome = await exchange(token)
      expect(shorten(outcome)).toBe('401 invalid_identity_token identity_token')
      expect(outcome.body.error.message).toBe('The identity token is not valid for this project.')
    }
  })

  test("never takes a provider's token for a client token, nor a client token for an identity token", async () => {
    const token = await idp.sign({}, Date.now())
    expect(await chat(token)).toBe('401 invalid_key')
    const dressed = await idp.sign({}, Date.now(), { typ: 'ct+jwt' })
    expect(await chat(dressed)).toBe('401 invalid_key')
    const { body } = await mint()
    expect(shorten(await exchange(body.token))).toBe('401 invalid_identity_token identity_token')
    // Not even where the project trusts the gateway as its identity provider.
    const jwks_url = `${app.gatewayUrl}/.well-known/jwks.json`
    const own = await federated({ issuer: app.gatewayUrl, jwks_url, audiences: ['rideau'] })
    expect(own.status).toBe(200)
    expect(shorten(await exchange(body.token))).toBe('401 invalid_identity_token identity_token')
  })

  test("answers keys that cannot be had with federated_config_invalid, and nothing of the provider's answer", async () => {
    const other = await openIdentityProvider()
    expect((await federated({ issuer: other.issuer, jwks_url: other.jwksUrl })).status).toBe(200)
    const token = await other.sign({}, Date.now())
    other.answers.set('/keys', { status: 500, body: 'secret' })
    const outcome = await exchange(token)
    expect(shorten(outcome)).toBe('400 federated_config_invalid')
    expect(outcome.body.error.message).not.toMatch(/500|secret|127/)
    await other.close()
  })

  test('gives a blocked end user no token', async () => {
    const token = await idp.sign({ sub: 'dave' }, Date.now())
    await exchange(token)
    const { id } = await findEndUser('dave')
    await app.manage('POST', `/v1/end-users/${id}/block`)
    expect(shorten(await exchange(token))).toBe('403 end_user_blocked')
  })

  test('answers browsers of the project only, also in errors, and answers their preflight', async () => {
    const token = await idp.sign({}, Date.now())
    const from = (origin: string) => exchange(token, {}, { headers: { origin } })
    expect(shorten(await from(ORIGIN))).toBe('403 origin_not_allowed')
    await app.manage('PATCH', `/v1/projects/${app.projectId}`, { allowed_origins: [ORIGIN] })
    const { status, headers, body } = await from(ORIGIN)
    expect(status).toBe(201)
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(headers.get('vary')).toBe('Origin')
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? []
    const names = ['X-Request-Id', 'Retry-After', 'RateLimit', 'x-ratelimit-remaining-tokens']
    expect(exposed).toEqual(expect.arrayContaining([...names, 'X-Rideau-Emulated-Params']))
    expect(shorten(await from(`${ORIGIN}.evil.example`))).toBe('403 origin_not_allowed')
    expect(shorten(await from('null'))).toBe('403 origin_not_allowed')
    expect(await chat(body.token, { origin: ORIGIN })).toBe('200')
    expect(await chat(body.token, { origin: 'https://other.example' })).toBe('403 origin_not_allowed')
    for (const path of ['/v1/client-tokens', '/v1/device/challenge', '/v1/device/attest', '/v1/chat']) {
      const preflight = await fetch(app.gatewayUrl + path, {
        method: 'OPTIONS',
        headers: {
          origin: ORIGIN,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-origin')).toBe(ORIGIN)
      expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization')
    }
  })
})
