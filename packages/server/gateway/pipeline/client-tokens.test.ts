import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClientTokenClaims } from '../../core/access/client-token.ts'
import { messageItem, responseOf } from '../../testing/fakes/scripted-responses.ts'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { type Answer, openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { openTokenMint, type TokenMint } from '../../testing/harness/token-mint.ts'

let app: TestApp
let upstream: ScriptedUpstream
let mint: TokenMint
/** The id of the key that signs client tokens. */
let signerId: string
let cookie: string
/** The owner's own token, made by the playground. */
let token: string
beforeAll(async () => {
  const masterKey = randomBytes(32)
  app = await openTestApp({ RIDEAU_MASTER_KEY: masterKey.toString('base64') })
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
  upstream.script(completion('Hello.'))
  const minting = await openTokenMint(app, masterKey)
  mint = minting.mint
  signerId = minting.signerId
  cookie = await signIn('owner@example.com')
  token = (await asPerson('POST', playground())).body.token
})
afterAll(async () => {
  await upstream.close()
  await app.close()
})

const playground = (environmentId = app.developmentId) => `/v1/environments/${environmentId}/playground-token`

async function signIn(email: string): Promise<string> {
  const { headers } = await app.manage('POST', '/v1/session', { email, password: 'a long enough password' })
  return headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}

/** Calls as a browser does from the dashboard. */
async function asPerson(
  method: string,
  route: string,
  by = cookie,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const headers = { cookie: by, 'x-rideau-csrf': '1', origin: app.controlUrl }
  const response = await fetch(app.controlUrl + route, { method, headers })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

interface Key {
  readonly id: string
  readonly key: string
}

const BODY = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Say hello.' }] }

async function outcome(
  key: string,
  {
    headers = {},
    body = {},
    route = '/v1/chat',
  }: { headers?: Record<string, string>; body?: object; route?: string } = {},
): Promise<string> {
  const response = await app.call(route, { ...BODY, ...body }, { key, headers })
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } }
  return [response.status, error?.code, error?.param].filter(part => part != null).join(' ')
}

describe('a playground token', () => {
  test('has the documented claims for 15 minutes and is verified by the published keys alone', async () => {
    const { status, body } = await asPerson('POST', playground())
    expect(status).toBe(201)
    const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', app.gatewayUrl))
    const expected = { issuer: app.gatewayUrl, audience: 'rideau', typ: 'ct+jwt', algorithms: ['ES256'] }
    const { payload, protectedHeader } = await jwtVerify(body.token, keys, expected)
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: signerId, typ: 'ct+jwt' })
    const { data: members } = (await app.manage('GET', `/v1/orgs/${app.orgId}/members`)).body
    expect(body.end_user_id).toBe(`member:${members[0].id}`)
    expect(payload).toEqual({
      iss: app.gatewayUrl,
      aud: 'rideau',
      sub: body.end_user_id,
      org: app.orgId,
      prj: app.projectId,
      env: app.developmentId,
      scope: 'ai.chat ai.embed ai.images feedback',
      plan: null,
      amr: 'member',
      pk: null,
      ver: 1,
      iat: expect.any(Number),
      nbf: payload.iat,
      exp: (payload.iat ?? 0) + 900,
      jti: expect.any(String),
    })
    expect(Date.parse(body.expires_at)).toBe((payload.exp ?? 0) * 1000)
  })

  test('is accepted for chat in both formats, and its record names the member', async () => {
    const response = await app.call('/v1/chat', BODY, { key: token })
    expect(response.status).toBe(200)
    expect(await outcome(token, { route: '/openai/v1/chat/completions' })).toBe('200')
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ status: 200, key_id: null, end_user_id: expect.stringMatching(/^member:/) })
  })

  test('lists the models of its own environment only, without those for audio alone', async () => {
    const list = async (key: string): Promise<{ capabilities: string[] }[]> => {
      const headers = { authorization: `Bearer ${key}` }
      return ((await (await fetch(`${app.gatewayUrl}/v1/models`, { headers })).json()) as { data: [] }).data
    }
    const ofKey = await list(app.secretKey)
    const isForAudio = (each: string): boolean => each === 'transcription' || each === 'speech'
    const listed = ofKey.filter(({ capabilities }) => !capabilities.every(isForAudio))
    expect(listed.length).toBeLessThan(ofKey.length)
    expect(await list(token)).toEqual(listed)
    const production = (await asPerson('POST', playground(app.productionId))).body.token
    expect(await list(production)).toEqual([])
    expect(await outcome(production)).toBe('400 provider_credential_missing model')
  })

  test('is refused by the control plane', async () => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${app.controlUrl}/v1/orgs`, { headers })
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([401, 'invalid_key'])
  })

  test("is accepted from the dashboard and the project's own pages, and from no others", async () => {
    const from = (origin: string, by = token) => outcome(by, { headers: { origin } })
    expect(await from(app.controlUrl)).toBe('200')
    expect(await from('https://app.example')).toBe('403 origin_not_allowed')
    await app.manage('PATCH', `/v1/projects/${app.projectId}`, {
      allowed_origins: ['https://app.example'],
    })
    expect(await from('https://app.example')).toBe('200')
    expect(await from('https://app.example.evil.example')).toBe('403 origin_not_allowed')
    expect(await from('null')).toBe('403 origin_not_allowed')
    // A token of an app must not be used from the dashboard.
    const minted = mint(await app.createKey({}))
    expect(await from('https://app.example', minted)).toBe('200')
    expect(await from(app.controlUrl, minted)).toBe('403 origin_not_allowed')
  })

  test('ends when the member loses the right to make one, or leaves', async () => {
    const invited = await app.manage('POST', `/v1/orgs/${app.orgId}/members`, {
      email: 'dev@example.com',
      role: 'developer',
    })
    const invitation = new URL(invited.body.accept_url)
    const secret = /[^=/#?]+$/.exec(invitation.href)?.[0]
    const accepted = await app.manage('POST', '/v1/invitations/accept', {
      token: secret,
      password: 'a long enough password',
    })
    expect(accepted.status).toBeLessThan(300)
    const developer = await signIn('dev@example.com')
    const theirs = (await asPerson('POST', playground(), developer)).body.token
    expect(await outcome(theirs)).toBe('200')
    await app.manage('PATCH', `/v1/members/${invited.body.id}`, { role: 'viewer' })
    expect(await outcome(theirs)).toBe('401 key_revoked')
    expect((await asPerson('POST', playground(), developer)).body.error.code).toBe('insufficient_role')
    await app.manage('PATCH', `/v1/members/${invited.body.id}`, { role: 'developer' })
    expect(await outcome(theirs)).toBe('200')
    await app.manage('DELETE', `/v1/members/${invited.body.id}`)
    expect(await outcome(theirs)).toBe('401 key_revoked')
  })

  test('made with a management key belongs to that key and ends with it', async () => {
    const route = `/v1/orgs/${app.orgId}/management-keys`
    const headers = {
      cookie,
      'x-rideau-csrf': '1',
      origin: app.controlUrl,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ name: 'CI', role: 'developer' })
    const made = (await (
      await fetch(app.controlUrl + route, { method: 'POST', headers, body })
    ).json()) as Key
    const response = await fetch(app.controlUrl + playground(), {
      method: 'POST',
      headers: { authorization: `Bearer ${made.key}` },
    })
    const minted = (await response.json()) as { token: string; end_user_id: string }
    expect(minted.end_user_id).toBe(`member:${made.id}`)
    expect(await outcome(minted.token)).toBe('200')
    await asPerson('POST', `/v1/management-keys/${made.id}/revoke`)
    expect(await outcome(minted.token)).toBe('401 key_revoked')
  })
})

describe('a client token', () => {
  let key: Key
  beforeAll(async () => {
    key = await app.createKey({})
  })

  test.each<[string, Partial<ClientTokenClaims>, string]>([
    ['of another issuer', { iss: 'https://other.example' }, '401 invalid_key'],
    ['of an unknown environment', { env: '00000000-0000-7000-8000-000000000000' }, '401 invalid_key'],
    ['that has expired', { iat: 1000, nbf: 1000, exp: 1900 }, '401 key_expired'],
    ['before its nbf', { nbf: 4_000_000_000 }, '401 invalid_key'],
    ['whose scopes lack the endpoint', { scope: 'ai.embed feedback' }, '403 endpoint_not_allowed'],
    ['of an unknown key', { pk: '00000000-0000-7000-8000-000000000000' }, '401 key_revoked'],
    ['of an unknown member', { pk: null, amr: 'member' }, '401 key_revoked'],
    ['that is valid', {}, '200'],
  ])('%s', async (_, change, expected) => {
    expect(await outcome(mint(key, change))).toBe(expected)
  })

  test('is refused if it names a key of another environment or an organization that does not own the environment', async () => {
    const foreign = await app.createKey({}, app.productionId)
    expect(await outcome(mint(foreign))).toBe('401 key_revoked')
    const org = '00000000-0000-7000-8000-000000000000'
    expect(await outcome(mint(key, { org }))).toBe('401 invalid_key')
    expect(await outcome(mint(key, { prj: org }))).toBe('401 invalid_key')
  })

  test('is refused after any modification', async () => {
    const good = mint(key)
    const alphabet = 'ABCXYZabcxyz0123456789-_.'
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(...alphabet), async (at, letter) => {
        fc.pre(good[at] !== letter)
        expect(await outcome(good.slice(0, at) + letter + good.slice(at + 1))).toBe('401 invalid_key')
      }),
      { numRuns: 150 },
    )
    expect(await outcome(good)).toBe('200')
  })

  test('has the current restrictions of its minting key, and ends with it', async () => {
    const restricted = await app.createKey({ restrictions: { allowed_models: ['openai/*'] } })
    const minted = mint(restricted)
    expect(await outcome(minted)).toBe('403 model_not_allowed model')
    await app.manage('PATCH', `/v1/keys/${restricted.id}`, { restrictions: null, scopes: ['ai.chat'] })
    expect(await outcome(minted)).toBe('200')
    await app.manage('PATCH', `/v1/keys/${restricted.id}`, { scopes: ['ai.embed'] })
    expect(await outcome(minted)).toBe('403 endpoint_not_allowed')
    await app.manage('POST', `/v1/keys/${restricted.id}/revoke`)
    expect(await outcome(minted)).toBe('401 key_revoked')
  })

  test('ends with its minting key at the latest', async () => {
    const rolled = await app.createKey({})
    const minted = mint(rolled)
    expect(await outcome(minted)).toBe('200')
    await app.manage('POST', `/v1/keys/${rolled.id}/roll`, { overlap_seconds: 0 })
    expect(await outcome(minted)).toBe('401 key_expired')
  })

  test('acts for its own end user and may not name another', async () => {
    const minted = mint(key)
    expect(await outcome(minted, { headers: { 'x-rideau-end-user': 'bob' } })).toBe(
      '400 invalid_request X-Rideau-End-User',
    )
    for (const route of ['/v1/chat', '/openai/v1/chat/completions']) {
      expect(await outcome(minted, { route, body: { end_user: 'alice' } })).toBe(
        '400 invalid_request end_user',
      )
    }
    const response = await app.call('/v1/chat', { ...BODY, user: 'bob' }, { key: minted })
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ end_user_id: 'alice', key_id: key.id })
  })

  test('is refused once the block of its end user returned, like secret keys that name that end user', async () => {
    const users = `/v1/environments/${app.developmentId}/end-users`
    const { id } = (await app.manage('POST', users, { external_id: 'carol' })).body
    const minted = mint(key, { sub: 'carol' })
    const named = { headers: { 'x-rideau-end-user': 'carol' } }
    expect([await outcome(minted), await outcome(app.secretKey, named)]).toEqual(['200', '200'])
    await app.manage('POST', `/v1/end-users/${id}/block`)
    const blocked = '403 end_user_blocked'
    expect([await outcome(minted), await outcome(app.secretKey, named)]).toEqual([blocked, blocked])
    expect(await outcome(app.secretKey, { body: { end_user: 'carol' } })).toBe(blocked)
    expect(await outcome(mint(key))).toBe('200')
    await app.manage('POST', `/v1/end-users/${id}/unblock`)
    expect([await outcome(minted), await outcome(app.secretKey, named)]).toEqual(['200', '200'])
  })

  test('may send fields that the gateway does not validate, and ask for several images, only if the environment allows it', async () => {
    const minted = mint(key)
    const native = { body: { provider_options: { openai: { verbosity: 'low' } } } }
    const compat = { route: '/openai/v1/chat/completions', body: { some_new_field: 1 } }
    const image = { model: 'sandbox/image', prompt: 'a fox', messages: undefined, some_new_field: 1 }
    const images = { route: '/openai/v1/images/generations', body: image }
    const several = { ...images, body: { ...image, some_new_field: undefined, n: 2 } }
    const unread = '400 invalid_request some_new_field'
    const refused = ['400 invalid_request provider_options', unread, unread, '400 invalid_request n']
    const all = async (by: string) => [
      await outcome(by, native),
      await outcome(by, compat),
      await outcome(by, images),
      await outcome(by, several),
    ]
    const accepted = ['200', '200', '200', '200']
    expect(await all(minted)).toEqual(refused)
    expect(await all(app.secretKey)).toEqual(accepted)
    const environment = `/v1/environments/${app.developmentId}`
    await app.manage('PATCH', environment, { allow_client_passthrough: true })
    expect(await all(minted)).toEqual(accepted)
    await app.manage('PATCH', environment, { allow_client_passthrough: false })
    expect(await all(minted)).toEqual(refused)
  })

  test('may not use stored state with Responses, and an absent store is sent as false', async () => {
    const send = (fields: Record<string, unknown>): Promise<Response> =>
      app.call(
        '/openai/v1/responses',
        { model: 'openai/gpt-4o-mini', input: 'Hi', ...fields },
        { key: token },
      )
    upstream.script(responseOf(messageItem('Hello.')))
    for (const [fields, dropped] of [
      [{}, null],
      [{ store: false }, null],
      [{ store: null }, null],
      [{ store: true }, 'store'],
    ] as const) {
      const { status, headers } = await send(fields)
      expect([status, headers.get('x-rideau-dropped-params')]).toEqual([200, dropped])
      expect(upstream.requests.at(-1)?.path).toBe('/v1/responses')
      expect(upstream.requests.at(-1)?.body).toHaveProperty('store', false)
    }
    for (const fields of [
      { previous_response_id: 'resp_1' },
      { conversation: 'c' },
      { input: [{ type: 'item_reference', id: 'x' }] },
      { input: [{ type: 'item_reference', id: 'rs_x' }] },
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_of_others' }] }] },
      { input: [{ type: 'code_interpreter_call', container_id: 'cntr_of_others' }] },
    ]) {
      expect((await send(fields)).status).toBe(400)
    }
    upstream.script(completion('Hello.'))
  })

  test('never has anything stored at a provider', async () => {
    const route = '/openai/v1/chat/completions'
    const body = { model: 'openai/gpt-4o-mini', store: true }
    expect(await outcome(mint(key), { route, body })).toBe('200')
    expect(upstream.requests.at(-1)?.body).toHaveProperty('store', false)
    expect(await outcome(key.key, { route, body })).toBe('200')
    expect(upstream.requests.at(-1)?.body).toHaveProperty('store', true)
    // Accounts may store by default: a token's request says that it does not, whatever its format.
    const { store: _, ...unsaid } = body
    for (const from of [route, '/v1/chat']) {
      expect(await outcome(mint(key), { route: from, body: unsaid })).toBe('200')
      expect(upstream.requests.at(-1)?.body).toHaveProperty('store', false)
    }
    const message = { ...unsaid, max_tokens: 16 }
    expect(await outcome(mint(key), { route: '/anthropic/v1/messages', body: message })).toBe('200')
    expect(upstream.requests.at(-1)?.body).toHaveProperty('store', false)
    expect(await outcome(key.key, { route, body: unsaid })).toBe('200')
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('store')
    // Nothing is lost at a provider that stores nothing.
    await app.addCredential('groq', { api_key: 'k', base_url: upstream.baseUrl })
    const elsewhere = { ...body, model: 'groq/llama-3.3-70b-versatile' }
    expect(await outcome(mint(key), { route, body: elsewhere })).toBe('200')
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('store')
    expect(await outcome(key.key, { route, body: elsewhere })).toBe('400 invalid_request store')
  })

  test('cancels requests of its own end user only', async () => {
    const requestId = crypto.randomUUID()
    const running = app.call(
      '/v1/chat',
      { ...BODY, model: 'sandbox/slow' },
      { key: mint(key), headers: { 'x-request-id': requestId } },
    )
    const cancel = async (by: string): Promise<boolean> =>
      ((await (await app.call(`/v1/requests/${requestId}/cancel`, {}, { key: by })).json()) as any).canceled
    expect(await cancel(mint(key, { sub: 'bob' }))).toBe(false)
    await expect.poll(() => cancel(mint(key))).toBe(true)
    expect(((await (await running).json()) as any).error.code).toBe('request_canceled')
  })
})

test('every client token of a deleted project is revoked', async () => {
  const key = await app.createKey({})
  const minted = mint(key)
  expect([await outcome(minted), await outcome(token)]).toEqual(['200', '200'])
  await app.manage('DELETE', `/v1/projects/${app.projectId}`)
  expect([await outcome(minted), await outcome(token)]).toEqual(['401 key_revoked', '401 key_revoked'])
})
