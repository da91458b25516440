import { describe, expect, test } from 'vitest'
import { parseConfig } from '../settings/settings.ts'
import { welcome } from '../welcome.ts'
import { openLog } from './open-log.ts'

const TOKEN = 'the-made-up-token'
const APP = {
  gatewayUrl: 'http://127.0.0.1:8787',
  controlUrl: 'http://127.0.0.1:8788',
  metricsUrl: 'http://127.0.0.1:8789',
  setupToken: TOKEN,
}

/** What is written for a line of the log, and then for the welcome. */
function write(env: Record<string, string>, isTTY: boolean): { line: string; welcomed: string } {
  const config = parseConfig(env)
  let text = ''
  const output = { isTTY, columns: 80, write: (more: string) => (text += more) }
  const log = openLog(config, output)
  log.info({ a: 1 }, 'hello')
  const line = text
  text = ''
  welcome({ ...APP, setupToken: config.setupToken ?? TOKEN }, { config, log, output })
  return { line, welcomed: text }
}

describe('the log is', () => {
  test.each([
    ['text with colours on a terminal', {}, true, 'colour'],
    ['JSON elsewhere', {}, false, 'json'],
    ['JSON on a terminal if RIDEAU_LOG_FORMAT says so', { RIDEAU_LOG_FORMAT: 'json' }, true, 'json'],
    ['text elsewhere if RIDEAU_LOG_FORMAT says so', { RIDEAU_LOG_FORMAT: 'pretty' }, false, 'plain'],
    ['text without colours with NO_COLOR', { NO_COLOR: '1' }, true, 'plain'],
    ['text without colours on a terminal that has none', { TERM: 'dumb' }, true, 'plain'],
    ['text without colours with FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, 'plain'],
    [
      'text with colours with FORCE_COLOR, whatever NO_COLOR says',
      { FORCE_COLOR: '1', NO_COLOR: '1' },
      true,
      'colour',
    ],
    [
      'text with colours elsewhere if both are forced',
      { RIDEAU_LOG_FORMAT: 'pretty', FORCE_COLOR: '1' },
      false,
      'colour',
    ],
  ])('%s', (_, env, isTTY, expected) => {
    const { line } = write(env as Record<string, string>, isTTY)
    const found = line.startsWith('{') ? 'json' : line.includes('\x1b[') ? 'colour' : 'plain'
    expect(found).toBe(expected)
  })
})

describe('the start writes', () => {
  test('addresses and a command with the token to a terminal, in 80 columns', () => {
    const { welcomed } = write({}, true)
    for (const part of [
      APP.gatewayUrl,
      APP.controlUrl,
      `${APP.metricsUrl}/metrics`,
      `"setup_token": "${TOKEN}"`,
    ]) {
      expect(welcomed).toContain(part)
    }
    expect(Math.max(...welcomed.split('\n').map(line => line.length))).toBeLessThanOrEqual(80)
  })

  test('one JSON line with the same elsewhere', () => {
    const { welcomed } = write({}, false)
    expect(JSON.parse(welcomed)).toMatchObject({
      gateway_url: APP.gatewayUrl,
      control_url: APP.controlUrl,
      metrics_url: APP.metricsUrl,
      setup_token: TOKEN,
      msg: 'started; waits for its set-up by POST /v1/setup',
    })
  })

  test('with the dashboard, one address that carries the token in its fragment', () => {
    const env = { RIDEAU_DASHBOARD_DIR: '/pages' }
    const { welcomed } = write(env, true)
    expect(welcomed).toContain(`\n  ${APP.controlUrl}/setup#token=${TOKEN}\n`)
    expect(welcomed).not.toContain('curl')
    expect(Math.max(...welcomed.split('\n').map(line => line.length))).toBeLessThanOrEqual(80)
    expect(JSON.parse(write(env, false).welcomed)).toMatchObject({
      setup_token: TOKEN,
      setup_url: `${APP.controlUrl}/setup#token=${TOKEN}`,
    })
    const known = write({ ...env, RIDEAU_SETUP_TOKEN: 'known-to-the-operator' }, true).welcomed
    expect(known).toContain(`${APP.controlUrl}/setup\n`)
    expect(known).not.toContain('known-to-the-operator')
  })

  test.each([true, false])('no token that the operator set (terminal: %s)', isTTY => {
    const { welcomed } = write({ RIDEAU_SETUP_TOKEN: 'known-to-the-operator' }, isTTY)
    expect(welcomed).not.toContain('known-to-the-operator')
    expect(welcomed).toContain(APP.controlUrl)
  })
})
