import { randomBytes } from 'node:crypto'
import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from '../../app/settings/settings.ts'
import { SCOPES } from '../../core/tenancy/tenancy.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { findErrorCode } from '../../testing/harness/error-code.ts'
import { openTokenMint, type TokenMint } from '../../testing/harness/token-mint.ts'
import { listRoutes, type Route } from '../routes.ts'

let app: TestApp
let mint: TokenMint

beforeAll(async () => {
  const masterKey = randomBytes(32)
  app = await openTestApp({ RIDEAU_MASTER_KEY: masterKey.toString('base64') })
  mint = (await openTokenMint(app, masterKey)).mint
  for (const scope of SCOPES) {
    const scopes = SCOPES.filter(other => other !== scope)
    await app.manage('POST', `/v1/environments/${app.developmentId}/plans`, { name: `no ${scope}`, scopes })
  }
})

afterAll(async () => {
  await app.close()
})

const routes = listRoutes(new FormatRegistry(FORMATS), parseConfig({}).prefixes).map(route => ({
  ...route,
  title: `${route.method} ${route.path}`,
}))
const isMint = ({ need }: Route): boolean => need.makes !== undefined

/** Names of models that have routes of their own. */
const NAMED = ['no-embed-model', 'gemini-no-image']

const askOf =
  ({ method, path, models }: Pick<Route, 'method' | 'path' | 'models'>) =>
  async (credential?: string): Promise<string> => {
    const response = await fetch(
      app.gatewayUrl +
        path.replace(
          '*',
          models === undefined ? crypto.randomUUID() : (NAMED.find(name => models.test(name)) ?? ''),
        ),
      {
        method,
        headers: {
          'content-type': 'application/json',
          ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        },
        ...(method === 'GET' ? {} : { body: '{}' }),
      },
    )
    const code = findErrorCode(await response.json())
    return [response.status, code].filter(part => part !== undefined).join(' ')
  }

/** Any answer after the checks of the credential. */
const LET_IN = /^(200|400 \w+|404 model_not_found|415 unsupported_media_type)$/

describe.each(routes.filter(isMint))('$title, which makes client tokens,', ({ need, ...route }) => {
  const ask = askOf(route)

  test('accepts a publishable key, and a secret key only where it names an end user', async () => {
    expect(await ask((await app.createKey({ kind: 'publishable' })).key)).toMatch(LET_IN)
    expect(await ask(app.secretKey)).toMatch(
      need.endpoint === 'device' ? /^403 publishable_key_required$/ : LET_IN,
    )
  })

  test('refuses every client token, a management key, a forged token and a missing credential', async () => {
    const key = await app.createKey({})
    expect(await ask(mint(key))).toBe(
      need.makes === 'token' ? '403 client_token_cannot_mint' : '403 publishable_key_required',
    )
    expect(await ask(app.managementKey)).toBe('401 invalid_key')
    expect(await ask(mint(key, { iat: 1000, nbf: 1000, exp: 1900 }))).toBe('401 key_expired')
    expect(await ask(mint(key).replace(/.{4}$/, 'AAAA'))).toBe('401 invalid_key')
    expect(await ask()).toBe('401 unauthenticated')
  })
})

describe.each(routes.filter(route => !isMint(route)))('$title', ({ need, ...route }) => {
  const ask = askOf(route)

  test('accepts a client token with its scope alone, and none with all other scopes', async () => {
    const key = await app.createKey({})
    const scopeOf = (wanted: boolean): string =>
      SCOPES.filter(scope => (scope === need.scope) === wanted).join(' ')
    if (need.isForKeys === true) {
      expect(await ask(mint(key, { scope: SCOPES.join(' ') }))).toBe('403 endpoint_not_allowed')
    } else if (need.scope !== null) {
      expect(await ask(mint(key, { scope: scopeOf(true) }))).toMatch(LET_IN)
      expect(await ask(mint(key, { scope: scopeOf(false) }))).toBe('403 endpoint_not_allowed')
    } else expect(await ask(mint(key, { scope: 'feedback' }))).toMatch(LET_IN)
    expect(await ask(app.secretKey)).toMatch(LET_IN)
  })

  test('refuses a client token whose end user has a plan without the scope, whatever the body is', async () => {
    const minted = mint(await app.createKey({}), { scope: SCOPES.join(' '), plan: `no ${need.scope}` })
    const isRefused = need.scope !== null || need.isForKeys === true
    expect(await ask(minted)).toMatch(isRefused ? /^403 endpoint_not_allowed$/ : LET_IN)
  })

  test('refuses a publishable key, a management key, an expired token, a forged token and a missing credential', async () => {
    const key = await app.createKey({})
    const publishable = await app.createKey({ kind: 'publishable' })
    expect(await ask(publishable.key)).toBe('403 endpoint_not_allowed')
    expect(await ask(app.managementKey)).toBe('401 invalid_key')
    expect(await ask(mint(key, { iat: 1000, nbf: 1000, exp: 1900 }))).toBe('401 key_expired')
    expect(await ask(mint(key).replace(/.{4}$/, 'AAAA'))).toBe('401 invalid_key')
    expect(await ask()).toBe('401 unauthenticated')
  })
})
