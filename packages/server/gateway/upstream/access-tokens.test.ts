import type { Provider } from '@rideau/llm/provider/provider'
import type { Target } from '@rideau/llm/upstream/target'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import {
  openScriptedTokenEndpoint,
  type ScriptedTokenEndpoint,
} from '../../testing/fakes/scripted-token-endpoint.ts'
import { AccessTokens } from './access-tokens.ts'

const NOW = Date.parse('2031-05-14T10:30:00Z')
const MINUTE = 60_000

let endpoint: ScriptedTokenEndpoint
let now: number
let tokens: AccessTokens
let asked: number

beforeAll(async () => {
  endpoint = await openScriptedTokenEndpoint()
})
afterAll(() => endpoint.close())
beforeEach(() => {
  now = NOW
  tokens = new AccessTokens({ policy: openConfiguredEgress({ allowPrivate: true }), now: () => now })
  asked = endpoint.claims.length
  endpoint.lifetimeS = 3600
  endpoint.rejection = undefined
})

const provider: Provider = {
  id: 'p',
  name: 'P',
  format: 'openai-chat',
  baseUrl: 'https://p.example/v1',
  auth: 'google',
  keyIsDocument: true,
  models: 'catalog',
}
const target = (apiKey = endpoint.serviceAccount, options = {}): Target => ({
  provider,
  model: 'm',
  baseUrl: 'https://p.example/v1',
  apiKey,
  options,
})
const exchanges = (): number => endpoint.claims.length - asked

describe('AccessTokens', () => {
  test('returns undefined for a key that is sent as it is', () => {
    expect(tokens.find('c', { ...target(), provider: { ...provider, auth: 'bearer' } })).toBeUndefined()
  })

  test('signs the assertion with the service account, for its token_uri and one hour', async () => {
    const answer = await tokens.find('c', target())
    expect(answer).toMatchObject({ ok: true, value: { expiresAt: NOW + 3600_000 } })
    expect(endpoint.claims.at(-1)).toEqual({
      iss: 'gateway@a-project.iam.gserviceaccount.com',
      aud: endpoint.url,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      iat: NOW / 1000,
      exp: NOW / 1000 + 3600,
    })
  })

  test('shares one exchange among concurrent callers, and makes none for later ones', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => tokens.find('c', target())))
    expect(new Set(answers).size).toBe(1)
    expect(exchanges()).toBe(1)
    expect(typeof tokens.find('c', target())).toBe('string')
    expect(exchanges()).toBe(1)
  })

  test('renews a token shortly before it expires, and serves the old one meanwhile', async () => {
    await tokens.find('c', target())
    const old = tokens.find('c', target())
    now = NOW + 56 * MINUTE
    expect(tokens.find('c', target())).toBe(old)
    // In its last half minute the old token is not used any more: this call waits for the running renewal.
    now = NOW + 60 * MINUTE
    const renewed = await tokens.find('c', target())
    expect(renewed).toMatchObject({ ok: true })
    expect(exchanges()).toBe(2)
    expect(tokens.find('c', target())).not.toBe(old)
  })

  test('does not return a dropped token; dropping it twice keeps its successor', async () => {
    await tokens.find('c', target())
    const first = tokens.find('c', target()) as string
    tokens.drop('c', first)
    await tokens.find('c', target())
    const second = tokens.find('c', target())
    expect(second).not.toBe(first)
    tokens.drop('c', first)
    expect(tokens.find('c', target())).toBe(second)
    expect(exchanges()).toBe(2)
  })

  test('keeps the token of an organization while another one uses very many credentials', async () => {
    const ownerOf = (orgId: string) => ({
      environment: { id: 'e', orgId },
      caller: undefined,
      endUser: undefined,
    })
    await tokens.find('c', target(), ownerOf('victim'))
    for (let n = 0; n < 10_000; n++) await tokens.find(`other ${n}`, target('{}'), ownerOf('other'))
    expect(typeof tokens.find('c', target(), ownerOf('victim'))).toBe('string')
    expect(exchanges()).toBe(1)
  })

  test('starts anew for another key or other options of the same credential', async () => {
    await tokens.find('c', target())
    await tokens.find('c', target(endpoint.serviceAccount, { project: 'other' }))
    expect(exchanges()).toBe(2)
    expect(await tokens.find('c', target('{}'))).toMatchObject({ ok: false, error: { kind: 'auth' } })
  })

  test('exchanges a rejected key again after ten seconds, and a changed one at once', async () => {
    endpoint.rejection = { status: 400, body: { error: 'invalid_grant' } }
    const rejected = { ok: false, error: { kind: 'auth' } }
    expect(await tokens.find('c', target())).toMatchObject(rejected)
    endpoint.rejection = undefined
    now = NOW + 9_999
    expect(await tokens.find('c', target())).toMatchObject(rejected)
    expect(exchanges()).toBe(0)
    expect(await tokens.find('c', target(endpoint.serviceAccount, { project: 'other' }))).toMatchObject({
      ok: true,
    })
    endpoint.rejection = { status: 400, body: { error: 'invalid_grant' } }
    expect(await tokens.find('d', target())).toMatchObject(rejected)
    endpoint.rejection = undefined
    now += 10_000
    expect(await tokens.find('d', target())).toMatchObject({ ok: true })
  })

  test('caches no other failure', async () => {
    endpoint.rejection = { status: 503, body: 'busy' }
    expect(await tokens.find('c', target())).toMatchObject({
      ok: false,
      error: { kind: 'unavailable', status: 503 },
    })
    endpoint.rejection = undefined
    expect(await tokens.find('c', target())).toMatchObject({ ok: true })
  })

  test.each([
    ['invalid_grant', 400, { error: 'invalid_grant', error_description: 'Invalid JWT.' }, 'auth'],
    ['a wrong account', 401, { error: 'invalid_client' }, 'auth'],
    ['too many', 429, {}, 'rate_limited'],
    ['a redirect', 302, {}, 'unavailable'],
    ['no token', 200, { id_token: 'x' }, 'unavailable'],
    ['a token that is not valid in a header', 200, { access_token: 'a\nb' }, 'unavailable'],
  ])('classifies %s by its cause', async (_, status, body, kind) => {
    endpoint.rejection = { status, body }
    expect(await tokens.find('c', target())).toMatchObject({ ok: false, error: { kind } })
  })

  test.each([
    ['a document that is not JSON', 'AIza-a-plain-key'],
    ['a document without a key', '{"client_email":"a@b"}'],
    [
      'a broken key',
      '{"client_email":"a@b","private_key":"-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----"}',
    ],
    ['an invalid token_uri', '{"client_email":"a@b","private_key":"k","token_uri":"x"}'],
  ])('refuses %s without a call, and without a part of the document in the message', async (_, key) => {
    const answer = await tokens.find('c', target(key))
    expect(answer).toMatchObject({ ok: false, error: { kind: 'auth' } })
    expect(JSON.stringify(answer)).not.toContain('AIza')
    expect(exchanges()).toBe(0)
  })

  test("exchanges only at Google's token_uri if private upstreams are not allowed", async () => {
    const strict = new AccessTokens({ policy: openConfiguredEgress({ allowPrivate: false }), now: () => now })
    expect(await strict.find('c', target())).toMatchObject({
      ok: false,
      error: { kind: 'auth', detail: expect.stringContaining('token_uri') },
    })
    expect(exchanges()).toBe(0)
  })
})
