import type { Provider } from '@rideau/llm/provider/provider'
import { findProvider } from '@rideau/llm/providers/index'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import {
  openScriptedTokenEndpoint,
  type ScriptedTokenEndpoint,
} from '../testing/fakes/scripted-token-endpoint.ts'
import { exchangeServiceAccount } from './exchange-service-account.ts'
import { findTokenExchange } from './find-token-exchange.ts'

const provider = findProvider('vertex') as Provider
const NOW = 1_000_000

let endpoint: ScriptedTokenEndpoint
beforeAll(async () => {
  endpoint = await openScriptedTokenEndpoint()
})
afterAll(() => endpoint.close())
afterEach(() => {
  endpoint.rejection = undefined
  endpoint.lifetimeS = 3600
})

const exchange = (apiKey: string, allowPrivate = true) =>
  exchangeServiceAccount({ provider, apiKey }, { policy: openConfiguredEgress({ allowPrivate }), now: NOW })
const change = (fields: Record<string, unknown>): string =>
  JSON.stringify({ ...JSON.parse(endpoint.serviceAccount), ...fields })

describe("a service account's key", () => {
  test('is exchanged for a token by a JWT that it signs for an hour', async () => {
    expect(await exchange(endpoint.serviceAccount)).toEqual({
      ok: true,
      value: { token: 'token-1', expiresAt: NOW + 3_600_000 },
    })
    expect(endpoint.claims.at(-1)).toEqual({
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      iss: 'gateway@a-project.iam.gserviceaccount.com',
      aud: endpoint.url,
      iat: NOW / 1000,
      exp: NOW / 1000 + 3600,
    })
  })

  test('is exchanged without a key id too', async () => {
    expect(await exchange(change({ private_key_id: undefined }))).toMatchObject({ ok: true })
  })

  test('is the exchange of providers that authenticate by Google', () => {
    expect(findTokenExchange({ provider, apiKey: 'k' })).toBe(exchangeServiceAccount)
  })

  test.each([
    ['text', 'the key is not the JSON of a service account'],
    ['null', 'the key is not the JSON of a service account'],
    ['{}', 'client_email or private_key is missing'],
  ])('is rejected without a request if it is %s', async (apiKey, detail) => {
    const before = endpoint.claims.length
    const result = await exchange(apiKey)
    expect(result).toEqual({ ok: false, error: { kind: 'auth', detail: expect.stringContaining(detail) } })
    expect(endpoint.claims).toHaveLength(before)
  })

  test('with a broken private key is rejected, and the error repeats nothing of it', async () => {
    const result = await exchange(change({ private_key: 'the-private-key' }))
    expect(result).toEqual({
      ok: false,
      error: {
        kind: 'auth',
        detail:
          'the private_key of this service account is not PEM of PKCS #8 with an RSA key of 2048 to 4096 bits',
      },
    })
  })

  test.each(['not a url', 7])('with the token_uri %j is rejected', async token_uri => {
    const error = { kind: 'auth', detail: 'the token_uri is not a URL' }
    expect(await exchange(change({ token_uri }))).toEqual({ ok: false, error })
  })

  test.each(['https://evil.example/token', 'https://oauth2.googleapis.com.evil.example/token'])(
    'signs nothing for %s',
    async token_uri => {
      expect(await exchange(change({ token_uri }), false)).toEqual({
        ok: false,
        error: { kind: 'auth', detail: 'the token_uri of this service account is not an address of Google' },
      })
    },
  )
})

describe('the token endpoint', () => {
  test.each([
    [400, 'auth'],
    [401, 'auth'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [302, 'unavailable'],
  ])('with status %i gives the error %s', async (status, kind) => {
    endpoint.rejection = { status, body: {} }
    const error = { kind, status, detail: `token endpoint: ${status}` }
    expect(await exchange(endpoint.serviceAccount)).toEqual({ ok: false, error })
  })

  test('gives its error and description as the detail, shortened to 200 characters', async () => {
    endpoint.rejection = {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'x'.repeat(300) },
    }
    const result = await exchange(endpoint.serviceAccount)
    const detail = result.ok ? '' : result.error.detail
    expect(detail).toMatch(/^token endpoint: invalid_grant: x+$/)
    expect(detail).toHaveLength(200)
  })

  test.each([
    ['no access_token', {}],
    ['a token that is no string', { access_token: 7 }],
    ['a token that cannot be a header', { access_token: 'a\r\nb' }],
    ['no object', []],
  ])('with %s in a 200 gives the error unavailable', async (_, body) => {
    endpoint.rejection = { status: 200, body }
    const error = { kind: 'unavailable', detail: 'the token endpoint returned no access_token' }
    expect(await exchange(endpoint.serviceAccount)).toEqual({ ok: false, error })
  })

  test.each([[undefined], [0], [-5], ['soon']])(
    'with expires_in %j gives a token for an hour',
    async expires_in => {
      endpoint.rejection = { status: 200, body: { access_token: 't', expires_in } }
      const value = { token: 't', expiresAt: NOW + 3_600_000 }
      expect(await exchange(endpoint.serviceAccount)).toEqual({ ok: true, value })
    },
  )

  test('on a host that is out of reach gives the error unavailable', async () => {
    const closed = await openScriptedTokenEndpoint()
    await closed.close()
    const error = { kind: 'unavailable', detail: 'token endpoint: unreachable' }
    expect(await exchange(closed.serviceAccount)).toEqual({ ok: false, error })
  })
})
