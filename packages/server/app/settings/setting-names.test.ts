import { describe, expect, test } from 'vitest'
import { ConfigError } from './config-error.ts'
import { listUnknownSettings } from './setting-names.ts'
import { parseConfig, SETTING_NAMES } from './settings.ts'

const list = (env: Record<string, string>): string[] => listUnknownSettings(env, SETTING_NAMES)

describe('variables that look like settings', () => {
  test('a misspelled setting is listed with the one that it resembles', () => {
    expect(list({ RIDEAU_MASTERKEY: 'x', RIDEAU_ALLOW_PRIVATE_UPSTREAM: 'true' })).toEqual([
      'RIDEAU_MASTERKEY is not a setting and is ignored; did you mean RIDEAU_MASTER_KEY?',
      'RIDEAU_ALLOW_PRIVATE_UPSTREAM is not a setting and is ignored; did you mean RIDEAU_ALLOW_PRIVATE_UPSTREAMS?',
    ])
  })

  test('one that has no prefix is listed with its name', () => {
    expect(list({ RIDEAU_DATABASE_URL: 'postgres://x', RIDEAU_HOS: '::' })).toEqual([
      'RIDEAU_DATABASE_URL is not a setting and is ignored; did you mean DATABASE_URL?',
      'RIDEAU_HOS is not a setting and is ignored; did you mean RIDEAU_HOST?',
    ])
  })

  test('one that resembles no setting is listed without a suggestion, and without its value', () => {
    expect(list({ RIDEAU_DATABASE_PASSWORD: 'secret', RIDEAU_PORT: '80' })).toEqual([
      'RIDEAU_DATABASE_PASSWORD is not a setting and is ignored',
      'RIDEAU_PORT is not a setting and is ignored',
    ])
  })

  test('settings, other programs, keys of examples and names of any length are not listed', () => {
    const env = { RIDEAU_HOST: '::1', PATH: '/bin', RIDEAU_KEY: 'rd_sk_x', RIDEAU_TEST_SEED: '1' }
    expect(list({ ...env, [`RIDEAU_${'A'.repeat(100_000)}`]: '1' })).toEqual([])
  })
})

describe('the error of a missing setting is followed by the variable that may be its misspelling', () => {
  const key = Buffer.alloc(32).toString('base64')
  test.each([
    [
      { DATABASE_URL: 'postgres://u:p@db/x', RIDEAU_MASTERKEY: key },
      'RIDEAU_MASTER_KEY: must be set if DATABASE_URL is set (32 bytes in base64: openssl rand -base64 32)',
      'RIDEAU_MASTERKEY is not a setting and is ignored; did you mean RIDEAU_MASTER_KEY?',
    ],
    [
      { RIDEAU_FORMER_MASTER_KEYS: key, RIDEAU_MASTERKEY: key },
      'RIDEAU_FORMER_MASTER_KEYS: needs RIDEAU_MASTER_KEY, the key that replaces them',
      'RIDEAU_MASTERKEY is not a setting and is ignored; did you mean RIDEAU_MASTER_KEY?',
    ],
    [
      { RIDEAU_OIDC_ISSUER: 'https://i.example', RIDEAU_OIDC_CLIENT_SECRET: 's', RIDEAU_OIDC_CLIENTID: 'c' },
      'RIDEAU_OIDC_CLIENT_ID: must be set too, since sign-in by OIDC needs all three',
      'RIDEAU_OIDC_CLIENTID is not a setting and is ignored; did you mean RIDEAU_OIDC_CLIENT_ID?',
    ],
  ])('%#', (env, ...lines) => {
    expect(() => parseConfig(env)).toThrow(new ConfigError(lines.join('\n')))
  })
})

test('the variables that Kubernetes sets for a Service called rideau-gateway change no setting', () => {
  const env = {
    RIDEAU_GATEWAY_PORT: 'tcp://10.0.0.11:8787',
    RIDEAU_GATEWAY_PORT_8787_TCP: 'tcp://10.0.0.11:8787',
    RIDEAU_GATEWAY_PORT_8787_TCP_ADDR: '10.0.0.11',
    RIDEAU_GATEWAY_SERVICE_HOST: '10.0.0.11',
    RIDEAU_GATEWAY_SERVICE_PORT: '8787',
    RIDEAU_GATEWAY_SERVICE_PORT_HTTP: '8787',
  }
  expect(parseConfig(env).gatewayPort).toBe(8787)
  expect(list(env)).toEqual([])
})
