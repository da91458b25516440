import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { replaceProperty } from '../../testing/harness/replace-property.ts'
import type { GatewayDeps } from '../deps.ts'

let limited: LimitedApp
let deps: GatewayDeps
let log: object[] = []
/** Undoes what a test replaced. */
let restore = (): void => {}

beforeAll(async () => {
  limited = await openLimitedApp({ LOG_LEVEL: 'error' }, { write: line => void log.push(JSON.parse(line)) })
  deps = limited.deps
})

afterAll(async () => {
  await limited.close()
})

beforeEach(() => {
  log = []
})

afterEach(() => restore())

const broken = (): never => {
  throw new Error('scripted')
}

describe('affects only one connection after an exception before there is a request context:', () => {
  test('when the request arrives', async () => {
    restore = replaceProperty(deps, 'newId', () => broken)
    await expect(fetch(`${limited.app.gatewayUrl}/healthz`)).rejects.toThrow()
    restore()
    expect((await fetch(`${limited.app.gatewayUrl}/healthz`)).status).toBe(200)
    expect(log).toMatchObject([{ alarm: 'exception', where: 'the arrival of a request' }])
  })

  test('on an unknown route, answered with 500 internal_error', async () => {
    restore = replaceProperty(deps, 'getReadiness', () => broken)
    const response = await fetch(`${limited.app.gatewayUrl}/readyz`)
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('internal_error')])
    expect(log).toMatchObject([{ requestId: response.headers.get('x-request-id') }])
  })

  test('in the answer to bytes that are not a request', async () => {
    restore = replaceProperty(deps, 'newId', () => broken)
    const raw = await openRaw(limited.app.gatewayUrl)
    const closed = new Promise(resolve => raw.socket.once('close', resolve))
    raw.socket.write('hello\r\n\r\n')
    await closed
    expect(raw.text()).toBe('')
    expect(log).toMatchObject([{ where: 'the answer to a broken request' }])
  })
})

test('counts alarms in the metrics, by whether a request was affected', async () => {
  const read = async () => await (await fetch(`${limited.app.metricsUrl}/metrics`)).text()
  const countOf = (text: string, kind: string) =>
    Number(new RegExp(`rideau_exceptions_total\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1])
  const before = await read()
  deps.onException(new Error('scripted'), 'a test')
  deps.onException(new Error('scripted'), 'a test', 'an id')
  const after = await read()
  expect(countOf(after, 'background')).toBe(countOf(before, 'background') + 1)
  expect(countOf(after, 'request')).toBe(countOf(before, 'request') + 1)
  expect(countOf(after, 'process')).toBe(0)
})
