import { describe, expect, test } from 'vitest'
import { ConfigError } from './config-error.ts'
import { parseConfig } from './settings.ts'
import { readResources, toWorkerCount } from './worker-count.ts'

describe('an invalid setting stops the start with a message that says what is accepted', () => {
  test.each([
    ['RIDEAU_GATEWAY_PORT', 'abc', 'must be a whole number from 0 to 65535; got "abc"'],
    ['RIDEAU_WORKERS', '0', 'must be auto or a whole number from 1 to 64; got "0"'],
    ['RIDEAU_WORKERS', 'all', 'must be auto or a whole number from 1 to 64; got "all"'],
    ['RIDEAU_WORKERS', '21', 'must be at most 20 without DATABASE_URL'],
    ['RIDEAU_CONTROL_PORT', '1.5', 'must be a whole number from 0 to 65535; got "1.5"'],
    ['RIDEAU_METRICS_PORT', '70000', 'must be a whole number from 0 to 65535; got "70000"'],
    ['RIDEAU_LIMITS_FAILOPEN', 'yes', 'must be one of true, false, 1, 0; got "yes"'],
    ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent; got "loud"'],
    ['DATABASE_URL', 'mysql://u:p@db/x', 'must be a URL that begins with postgres:// or postgresql://'],
    ['REDIS_URL', 'http://cache', 'must be a URL that begins with redis:// or rediss://'],
    ['RIDEAU_JOURNAL_MAX_BYTES', '0', 'must be a whole number of bytes, at least 1; got "0"'],
    ['RIDEAU_MAX_UPSTREAM_CONNECTIONS', '1', 'must be a whole number from 16 to 65536; got "1"'],
    ['RIDEAU_SEND_TIMEOUT_SECONDS', ' ', 'must be a whole number of seconds from 1 to 3600; got " "'],
    ['RIDEAU_KEY_REQUESTS_PER_SECOND', 'many', 'must be a number above 0, at most 1000000; got "many"'],
    ['RIDEAU_OPEN_REQUESTS', '1.5', 'must be a whole number, at least 1; got "1.5"'],
    ['RIDEAU_BODY_BYTES', '1024', 'must be a whole number of bytes, at least 33554432; got "1024"'],
    ['RIDEAU_LOG_FORMAT', 'xml', 'must be one of json, pretty; got "xml"'],
    [
      'RIDEAU_GATEWAY_PORT',
      `8787\x1b[2J${'9'.repeat(100)}`,
      'must be a whole number from 0 to 65535; got "8787\\u001b[2J999999999999…"',
    ],
    ['RIDEAU_JOURNAL_FULL', 'drop', 'must be one of refuse, accept; got "drop"'],
    ['RIDEAU_CONFIG_MAX_STALE_SECONDS', '-1', 'must be a whole number of seconds, at least 0; got "-1"'],
    ['RIDEAU_BASE_URL', 'ftp://host', 'must be a URL that begins with http:// or https://'],
    ['RIDEAU_OIDC_ISSUER', 'issuer', 'must be a URL that begins with http:// or https://'],
    ['RIDEAU_COMPAT_PREFIX', '', 'must be a path like /openai, without a trailing slash'],
    ['RIDEAU_ANTHROPIC_PREFIX', '', 'must be a path like /openai, without a trailing slash'],
    ['RIDEAU_BEDROCK_PREFIX', '', 'must be a path like /openai, without a trailing slash'],
    ['RIDEAU_MASTER_KEY', 'short', 'must be 32 bytes in base64'],
    ['RIDEAU_TRUSTED_PROXIES', 'proxy', 'must be addresses or CIDRs with commas between them'],
  ])('%s=%s', (name, value, message) => {
    expect(() => parseConfig({ [name]: value })).toThrow(new ConfigError(`${name}: ${message}`))
  })
})

test('numbers and flags are parsed, and an empty setting counts as absent', () => {
  expect(
    parseConfig({
      RIDEAU_GATEWAY_PORT: '0',
      RIDEAU_CONTROL_PORT: '',
      RIDEAU_LIMITS_FAILOPEN: '1',
      RIDEAU_CONFIG_MAX_STALE_SECONDS: '60',
    }),
  ).toMatchObject({ gatewayPort: 0, controlPort: 8788, limitsFailOpen: true, configMaxStaleMs: 60_000 })
})

test("the list of revoked Android certificates is Google's, another one, a file, or off", () => {
  expect(parseConfig({})).toMatchObject({ androidRevocationList: undefined })
  for (const given of ['off', '/etc/status.json', 'https://mirror.example/status']) {
    const config = parseConfig({ RIDEAU_ANDROID_REVOCATION_LIST: given })
    expect(config.androidRevocationList).toBe(given)
  }
})

test('further roots of devices are refused in production', () => {
  const given = { RIDEAU_DEVICE_EXTRA_ROOTS: 'roots.pem' }
  expect(parseConfig(given)).toMatchObject({ deviceExtraRoots: 'roots.pem' })
  expect(() => parseConfig({ ...given, NODE_ENV: 'production' })).toThrow(
    /^RIDEAU_DEVICE_EXTRA_ROOTS: must not be set if NODE_ENV is production/,
  )
})

test.each([
  ['RIDEAU_MASTER_KEY', 'not-a-key-but-secret'],
  ['RIDEAU_FORMER_MASTER_KEYS', 'not-a-key-but-secret'],
  ['RIDEAU_SETUP_TOKEN', 'secret'],
  ['DATABASE_URL', 'mysql://user:secret@db/x'],
  ['REDIS_URL', 'http://user:secret@cache'],
  ['RIDEAU_BASE_URL', 'ftp://user:secret@host'],
])('an invalid %s is refused without its value', (name, value) => {
  expect(() => parseConfig({ [name]: value })).toThrow(name)
  expect(() => parseConfig({ [name]: value })).not.toThrow('secret')
})

test('a set-up token has at least 8 characters', () => {
  expect(parseConfig({ RIDEAU_SETUP_TOKEN: '12345678' }).setupToken).toBe('12345678')
  expect(() => parseConfig({ RIDEAU_SETUP_TOKEN: '1234567' })).toThrow('at least 8 characters')
})

test('without RIDEAU_WORKERS there is one worker per core', () => {
  const expected = Math.min(20, toWorkerCount(readResources()))
  expect(parseConfig({}).workers).toBe(expected)
  expect(parseConfig({ RIDEAU_WORKERS: 'auto' }).workers).toBe(expected)
})

describe('RIDEAU_ALLOW_PRIVATE_UPSTREAMS', () => {
  test.each([
    [{}, true],
    [{ RIDEAU_HOST: '::1', RIDEAU_METRICS_HOST: 'localhost' }, true],
    [{ NODE_ENV: 'production' }, false],
    [{ RIDEAU_HOST: '0.0.0.0' }, false],
    [{ RIDEAU_METRICS_HOST: '0.0.0.0' }, false],
    [{ RIDEAU_METRICS_HOST: '0.0.0.0', RIDEAU_ALLOW_PRIVATE_UPSTREAMS: 'true' }, true],
    [{ RIDEAU_ALLOW_PRIVATE_UPSTREAMS: 'false' }, false],
  ])('with %j: %s', (env, expected) => {
    expect(parseConfig(env).allowPrivateUpstreams).toBe(expected)
  })
})
