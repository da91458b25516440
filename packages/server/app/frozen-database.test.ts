import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toClientConfig } from '../storage/connection.ts'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'

let app: TestApp
let holder: Client

beforeAll(async () => {
  app = await openTestApp()
  holder = new Client(toClientConfig(app.database.connection))
  await holder.connect()
})

afterAll(async () => {
  await holder.end()
  await app.close()
})

const chat = (headers: Record<string, string> = {}) =>
  app.call('/v1/chat', { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }, { headers })

/** Lets no query of these tables end until the result is called. */
async function freeze(...tables: string[]): Promise<() => Promise<unknown>> {
  await holder.query('begin')
  await holder.query(`lock table ${tables.join(', ')} in access exclusive mode`)
  return () => holder.query('rollback')
}

// Without a bound of its own a call would wait for the timeout of the query, 30 seconds.
test('a call right after a change ends in 500 config_unavailable while the database is frozen', {
  timeout: 20_000,
}, async () => {
  expect((await chat()).status).toBe(200)
  const thaw = await freeze('environments', 'keys')
  await app.database.pool.query("select pg_notify('rideau_config', $1)", [app.developmentId])
  // The notification travels beside the calls: the first ones may still find the snapshot.
  let response = await chat()
  while (response.status === 200) response = await chat()
  const body = (await response.json()) as { error: { code: string } }
  expect([response.status, body.error.code]).toEqual([500, 'config_unavailable'])
  expect(response.headers.get('retry-after')).toBe('1')
  await thaw()
  expect((await chat()).status).toBe(200)
})

test("a call with an id of the caller's is answered under another id while the log is frozen", {
  timeout: 20_000,
}, async () => {
  const id = '0190a000-0000-7000-8000-00000000abcd'
  const thaw = await freeze('request_logs')
  const response = await chat({ 'x-request-id': id })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-request-id')).not.toBe(id)
  await thaw()
})

test('a rating is refused with config_unavailable while the log is frozen, and raises no alarm', {
  timeout: 20_000,
}, async () => {
  const answered = await chat()
  const requestId = answered.headers.get('x-request-id')
  await answered.text()
  await app.findLog(requestId as string)
  const thaw = await freeze('request_logs')
  const rate = () => app.call('/v1/feedback', { request_id: requestId, score: 1 })
  const response = await rate()
  const body = (await response.json()) as { error: { code: string } }
  expect([response.status, body.error.code, response.headers.get('retry-after')]).toEqual([
    500,
    'config_unavailable',
    '1',
  ])
  const metrics = await (await fetch(`${app.metricsUrl}/metrics`)).text()
  expect(metrics).toContain('rideau_exceptions_total')
  expect(metrics).not.toMatch(/^rideau_exceptions_total(?:\{[^}]*\})? [1-9]/m)
  await thaw()
  expect((await rate()).status).toBe(201)
})

test('client tokens are minted or refused while the tables of end users and keys are frozen', {
  timeout: 40_000,
}, async () => {
  const mint = (id: string, more: object = {}) =>
    app.call('/v1/client-tokens', { end_user: { external_id: id, ...more }, scopes: ['ai.chat'] })
  expect((await mint('first')).status).toBe(201)
  const thaw = await freeze('end_users')
  // Its record is made later.
  expect((await mint('second')).status).toBe(201)
  const refused = await mint('third', { attributes: { a: 1 } })
  expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
    500,
    'config_unavailable',
  ])
  await thaw()
})
