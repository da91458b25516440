import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../testing/fakes/scripted-upstream.ts'
import { isSigned, openWebhookReceiver, type WebhookReceiver } from '../testing/fakes/webhook-receiver.ts'
import { openTestApp, type TestApp, toUrl } from '../testing/harness/app.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../testing/harness/redis.ts'
import { type App, openApp } from './app.ts'
import { parseConfig } from './settings/settings.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const MODEL = 'custom-a/m'
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'hi' }] }

describe.skipIf(redisProgram === undefined)('circuits of two gateways', () => {
  let redis: TestRedis
  let app: TestApp
  let second: App
  let upstream: ScriptedUpstream
  let receiver: WebhookReceiver
  let credentialId: string
  let secret: string
  const dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-second-'))
  beforeAll(async () => {
    redis = await startTestRedis()
    upstream = await openScriptedUpstream()
    receiver = await openWebhookReceiver()
    app = await openTestApp({ REDIS_URL: redis.url, RIDEAU_MASTER_KEY: MASTER_KEY })
    second = await openApp(
      parseConfig({
        DATABASE_URL: toUrl(app.database.connection),
        REDIS_URL: redis.url,
        RIDEAU_DATA_DIR: dataDir,
        RIDEAU_MASTER_KEY: MASTER_KEY,
        RIDEAU_WORKERS: '1',
        RIDEAU_GATEWAY_PORT: '0',
        RIDEAU_METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
      }),
      { gateway: true, control: false },
      pino({ level: 'silent' }),
    )
    credentialId = await app.addCredential('custom-a', { api_key: 'sk', base_url: upstream.baseUrl })
    const hook = { url: receiver.url, events: ['circuit.open'] }
    secret = (await app.manage('POST', `/v1/orgs/${app.orgId}/webhooks`, hook)).body.secret
    const targets = [{ model: MODEL }, { model: 'sandbox/echo' }]
    const alias = { alias: 'safe', strategy: 'priority', targets }
    await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, alias)
  })
  afterAll(async () => {
    await second.close()
    await app.close()
    await redis.stop()
    await upstream.close()
    await receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const ask = async (gateway: string | undefined, model = 'safe'): Promise<string | null> => {
    const response = await fetch(`${gateway}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, model }),
    })
    await response.text()
    return response.headers.get('x-rideau-model')
  }
  const list = async (query = ''): Promise<any> =>
    (await app.manage('GET', `/v1/environments/${app.developmentId}/circuits${query}`)).body
  const metric = async (of: string, name: string): Promise<number> => {
    const text = await (await fetch(`${of}/metrics`)).text()
    const line = text.split('\n').find(each => each.startsWith(`${name} `))
    return Number(line?.split(' ').at(-1))
  }

  test('are one: seen by both, listed, measured, and announced once', async () => {
    expect(await list()).toEqual({ data: [], has_more: false, next_cursor: null })
    // Both gateways subscribe to each other's messages once they are connected.
    upstream.script(completion('hello'))
    expect(await ask(second.gatewayUrl)).toBe(MODEL)
    upstream.script(json(503, {}))
    for (let n = 0; n < 12; n++) await Promise.all([ask(app.gatewayUrl), ask(second.gatewayUrl)])
    await expect.poll(() => metric(second.metricsUrl ?? '', 'rideau_circuits_open')).toBe(1)
    expect(await metric(app.metricsUrl, 'rideau_circuits_open')).toBe(1)

    const [told] = await receiver.until(1)
    expect(told?.event).toMatchObject({
      type: 'circuit.open',
      data: { provider_credential_id: credentialId, environment_id: app.developmentId, model: MODEL },
    })
    expect(told !== undefined && (await isSigned(told, secret))).toBe(true)
    const { data } = await list()
    expect(data).toEqual([
      {
        id: expect.any(String),
        project_id: app.projectId,
        environment_id: app.developmentId,
        provider: 'custom-a',
        model: MODEL,
        credential_id: credentialId,
        state: expect.stringMatching(/^(open|half_open)$/),
        failure_rate: expect.any(Number),
        opened_at: expect.any(String),
        retry_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    expect((await list('?limit=1')).data).toHaveLength(1)

    // Neither gateway sends more than probes.
    const before = upstream.requests.length
    for (let n = 0; n < 20; n++) await Promise.all([ask(app.gatewayUrl), ask(second.gatewayUrl)])
    expect(upstream.requests.length - before).toBeLessThan(20)
    expect(await metric(app.metricsUrl, 'rideau_circuit_skips_total')).toBeGreaterThan(0)

    upstream.script(completion('back'))
    const bySecond = () => ask(second.gatewayUrl)
    await expect.poll(bySecond, { timeout: 30_000 }).toBe(MODEL)
    await expect.poll(() => ask(app.gatewayUrl), { timeout: 30_000 }).toBe(MODEL)
    await expect.poll(async () => (await list()).data[0].state).toBe('closed')
    expect((await list()).data[0]).toMatchObject({ retry_at: null })
    const { rows } = await app.database.pool.query(
      `select count(*)::int as events from audit_log where operation = 'circuit.open'`,
    )
    expect([rows[0].events, receiver.received.length]).toEqual([1, 1])
  })

  test('are separate while Redis is away, and no request fails for it', async () => {
    await redis.kill()
    upstream.script(json(503, {}))
    for (let n = 0; n < 15; n++) expect(await ask(second.gatewayUrl)).toBe('sandbox/echo')
    upstream.script(completion('back'))
    await expect.poll(() => ask(second.gatewayUrl), { timeout: 30_000 }).toBe(MODEL)
    await redis.start()
  })

  test('are hidden from other tenants, and end with their credential', async () => {
    expect((await app.manage('GET', `/v1/environments/${app.orgId}/circuits`)).status).toBe(404)
    await app.manage('DELETE', `/v1/provider-credentials/${credentialId}`)
    expect((await list()).data).toEqual([])
  })
})
