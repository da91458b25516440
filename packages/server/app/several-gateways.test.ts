import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSigned, openWebhookReceiver } from '../testing/fakes/webhook-receiver.ts'
import { openTestApp, type TestApp, toUrl } from '../testing/harness/app.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../testing/harness/redis.ts'
import { type App, openApp } from './app.ts'
import { parseConfig } from './settings/settings.ts'

const MASTER_KEY = randomBytes(32).toString('base64')

describe.skipIf(redisProgram === undefined)('several gateways on one database', () => {
  let redis: TestRedis
  let app: TestApp
  let second: App
  const dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-second-'))

  const openSecond = (env: Record<string, string>): Promise<App> =>
    openApp(
      parseConfig({
        DATABASE_URL: toUrl(app.database.connection),
        RIDEAU_DATA_DIR: dataDir,
        RIDEAU_MASTER_KEY: MASTER_KEY,
        RIDEAU_WORKERS: '1',
        RIDEAU_GATEWAY_PORT: '0',
        RIDEAU_METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
        ...env,
      }),
      { gateway: true, control: false },
      pino({ level: 'silent' }),
    )

  beforeAll(async () => {
    redis = await startTestRedis()
    app = await openTestApp({ REDIS_URL: redis.url, RIDEAU_MASTER_KEY: MASTER_KEY })
    second = await openSecond({ REDIS_URL: redis.url })
  })
  afterAll(async () => {
    await second.close()
    await app.close()
    await redis.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const callSecond = (route: string, body: unknown, headers = {}): Promise<Response> =>
    fetch(second.gatewayUrl + route, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const chat = (model: string): object => ({ model, messages: [{ role: 'user', content: 'hello' }] })
  const metric = async (name: string, of: string = app.metricsUrl): Promise<number | undefined> => {
    const text = await (await fetch(`${of}/metrics`)).text()
    const line = text.split('\n').find(each => each.startsWith(`${name} `) || each.startsWith(`${name}{`))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }
  const ready = async (): Promise<{ status: number; reasons: string[] }> => {
    const response = await fetch(`${app.gatewayUrl}/readyz`)
    return { status: response.status, reasons: ((await response.json()) as { reasons: string[] }).reasons }
  }

  test('serve the same tenants', async () => {
    expect((await app.call('/v1/chat', chat('sandbox/echo'))).status).toBe(200)
    expect((await callSecond('/v1/chat', chat('sandbox/echo'))).status).toBe(200)
  })

  test('raise one alert with one signed delivery when their common usage crosses a threshold', async () => {
    const receiver = await openWebhookReceiver()
    try {
      const hook = { url: receiver.url, events: ['quota.alert'] }
      const { secret } = (await app.manage('POST', `/v1/orgs/${app.orgId}/webhooks`, hook)).body
      const quota = { scope: 'default_end_user', metric: 'requests', window: 'month' }
      const made = await app.manage('POST', `/v1/environments/${app.developmentId}/quotas`, {
        ...quota,
        limit: 3,
        grace_pct: 100,
      })
      expect(made.status).toBe(201)
      const headers = { 'x-rideau-end-user': 'ann' }
      const statuses: number[] = []
      for (let n = 0; n < 4; n++) {
        statuses.push((await app.call('/v1/chat', chat('sandbox/echo'), { headers })).status)
        statuses.push((await callSecond('/v1/chat', chat('sandbox/echo'), headers)).status)
      }
      // The second gateway may learn of the quota a moment later.
      expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
      const [told] = await receiver.until(1)
      expect(told?.event.data).toMatchObject({ quota_id: made.body.id, limit: 3, grace_pct: 100 })
      expect(told !== undefined && (await isSigned(told, secret))).toBe(true)
      const { rows } = await app.database.pool.query(
        `select (select count(*) from audit_log where operation = 'quota.alert') as entries,
          (select count(*) from webhook_deliveries) as deliveries`,
      )
      expect(rows).toEqual([{ entries: 1, deliveries: 1 }])
      await app.manage('DELETE', `/v1/quotas/${made.body.id}`)
    } finally {
      await receiver.close()
    }
  })

  test('refuse the start of another one without REDIS_URL, with a line that says what to do', async () => {
    await expect(openSecond({})).rejects.toThrow(/another gateway process already runs.*REDIS_URL/)
  })

  test('refuse the start of another one on the same data folder, and leave its journal alone', async () => {
    const running = callSecond('/v1/chat', chat('sandbox/slow'))
    const journal = path.join(dataDir, 'journal')
    await expect.poll(() => readdirSync(journal).some(name => name.endsWith('.log'))).toBe(true)
    await expect(openSecond({ REDIS_URL: redis.url })).rejects.toThrow(
      /another gateway process writes its journal/,
    )
    const response = await running
    expect(response.status).toBe(200)
    const id = response.headers.get('x-request-id')
    const status = async (): Promise<unknown> =>
      (await app.database.pool.query('select status from request_logs where id = $1', [id])).rows[0]?.status
    await expect.poll(status).toBe(200)
  })

  test('cancel a request at the other gateway, and return false for an unknown request', async () => {
    const id = randomUUID()
    const running = callSecond('/v1/chat', chat('sandbox/slow'), { 'x-request-id': id })
    const cancel = async (which: string): Promise<unknown> => {
      const answer = await app.call(`/v1/requests/${which}/cancel`, '')
      return ((await answer.json()) as { canceled: boolean }).canceled
    }
    await expect.poll(() => cancel(id)).toBe(true)
    const response = await running
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'request_canceled' } })
    expect(await cancel(randomUUID())).toBe(false)
  })

  test('share each limit', async () => {
    const route = `/v1/environments/${app.developmentId}/limits`
    const limit = { scope: 'environment', metric: 'requests', limit: 20, window_seconds: 60 }
    const made = await app.manage('POST', route, limit)
    expect(made.status).toBe(201)
    const send = (index: number): Promise<Response> =>
      index % 2 === 0
        ? app.call('/v1/chat', chat('sandbox/echo'))
        : callSecond('/v1/chat', chat('sandbox/echo'))
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await send(index)).status),
    )
    const admitted = statuses.filter(status => status === 200).length
    // Requests of the earlier tests count too.
    expect(admitted).toBeGreaterThan(10)
    expect(admitted).toBeLessThanOrEqual(20)
    expect(statuses.filter(status => status === 429).length).toBe(40 - admitted)
    await app.manage('DELETE', `/v1/limits/${made.body.id}`)
  })

  test('count requests by status in /metrics, on a listener of its own', async () => {
    const before = (await metric('rideau_requests_total{status="2xx"}')) ?? 0
    await app.call('/v1/chat', chat('sandbox/echo'))
    await expect.poll(() => metric('rideau_requests_total{status="2xx"}')).toBe(before + 1)
    expect(await metric('rideau_ready')).toBe(1)
    expect(await metric('rideau_limits_whole')).toBe(1)
    expect((await fetch(`${app.gatewayUrl}/metrics`)).status).toBe(404)
  })

  test('report lost shared counting by /readyz and a metric, and its return within 5 s of the server', async () => {
    expect(await ready()).toEqual({ status: 200, reasons: [] })
    await redis.kill()
    await expect.poll(async () => (await ready()).status).toBe(503)
    expect((await ready()).reasons.join()).toContain('limit on money concerns are refused')
    expect(await metric('rideau_limits_whole')).toBe(0)
    await redis.start()
    await expect.poll(async () => (await ready()).status, { timeout: 5000 }).toBe(200)
    await expect.poll(() => metric('rideau_limits_whole', second.metricsUrl), { timeout: 5000 }).toBe(1)
  })
})
