import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { decodeProtectedHeader } from 'jose'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, toUrl } from '../testing/harness/app.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../testing/harness/redis.ts'
import { type App, openApp } from './app.ts'
import { rotateSigningKeys } from './rotate-signing-keys.ts'
import { parseConfig } from './settings/settings.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const URL_OF_BOTH = 'https://gateway.example'
/** What is promised is a second; on a busy machine the test itself may take longer to ask. */
const SOON = { timeout: 1_000, interval: 20 }

describe.skipIf(redisProgram === undefined)('client tokens on two gateways', () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-second-'))
  let redis: TestRedis
  let app: TestApp
  let second: App
  beforeAll(async () => {
    redis = await startTestRedis()
    const shared = {
      REDIS_URL: redis.url,
      RIDEAU_MASTER_KEY: MASTER_KEY,
      RIDEAU_GATEWAY_URL: URL_OF_BOTH,
      RIDEAU_TRUSTED_PROXIES: '127.0.0.1',
    }
    app = await openTestApp(shared)
    const own = { DATABASE_URL: toUrl(app.database.connection), RIDEAU_DATA_DIR: dataDir }
    const ports = {
      RIDEAU_WORKERS: '1',
      RIDEAU_GATEWAY_PORT: '0',
      RIDEAU_METRICS_PORT: '0',
      LOG_LEVEL: 'silent',
    }
    const config = parseConfig({ ...shared, ...own, ...ports })
    second = await openApp(config, { gateway: true, control: false }, pino({ level: 'silent' }))
  })
  afterAll(async () => {
    await second.close()
    await app.close()
    await redis.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const post = async (
    url: string | undefined,
    route: string,
    { key, body, ip = '203.0.113.1' }: { key: string; body: object; ip?: string },
  ): Promise<{ outcome: string; body: any; headers: Headers }> => {
    const response = await fetch(url + route, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-forwarded-for': ip,
      },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as any
    const outcome = [response.status, answer.error?.code].filter(part => part !== undefined).join(' ')
    return { outcome, body: answer, headers: response.headers }
  }
  const mintBody = (id: string) => ({ end_user: { id }, scopes: ['ai.chat'] })
  const chatBody = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
  const mint = async (id: string, key = app.secretKey): Promise<string> =>
    (await post(second.gatewayUrl, '/v1/client-tokens', { key, body: mintBody(id) })).body.token
  const chatOnBoth = async (key: string): Promise<string[]> => [
    (await post(app.gatewayUrl, '/v1/chat', { key, body: chatBody })).outcome,
    (await post(second.gatewayUrl, '/v1/chat', { key, body: chatBody })).outcome,
  ]

  test('are accepted by either, and end on both within a second of a block, a revocation and a deletion', async () => {
    const token = await mint('alice')
    expect(await chatOnBoth(token)).toEqual(['200', '200'])
    const listed = await app.manage('GET', `/v1/environments/${app.developmentId}/end-users`)
    const { id } = listed.body.data.find((each: any) => each.external_id === 'alice')
    await app.manage('POST', `/v1/end-users/${id}/block`)
    await expect.poll(() => chatOnBoth(token), SOON).toEqual(['403 end_user_blocked', '403 end_user_blocked'])
    await app.manage('POST', `/v1/end-users/${id}/unblock`)
    await expect.poll(() => chatOnBoth(token), SOON).toEqual(['200', '200'])

    const minting = await app.createKey({})
    const ofKey = await mint('bob', minting.key)
    expect(await chatOnBoth(ofKey)).toEqual(['200', '200'])
    await app.manage('POST', `/v1/keys/${minting.id}/revoke`)
    await expect.poll(() => chatOnBoth(ofKey), SOON).toEqual(['401 key_revoked', '401 key_revoked'])

    const project = (await app.manage('POST', `/v1/orgs/${app.orgId}/projects`, { name: 'Other' })).body
    const { data } = (await app.manage('GET', `/v1/projects/${project.id}/environments`)).body
    const development = data.find((each: any) => each.name === 'development')
    const ofProject = await mint('carol', (await app.createKey({}, development.id)).key)
    expect(await chatOnBoth(ofProject)).toEqual(['200', '200'])
    await app.manage('DELETE', `/v1/projects/${project.id}`)
    await expect.poll(() => chatOnBoth(ofProject), SOON).toEqual(['401 key_revoked', '401 key_revoked'])
  })

  test('end on both at once when the signing keys are replaced, and new ones are made by the new key at once', async () => {
    const options = { databaseUrl: toUrl(app.database.connection), dataDir, log: pino({ level: 'silent' }) }
    const [first, other] = [await mint('frank'), await mint('grace')]
    expect([...(await chatOnBoth(first)), ...(await chatOnBoth(other))]).toEqual(Array(4).fill('200'))
    await rotateSigningKeys({
      ...options,
      masterKey: Buffer.from(MASTER_KEY, 'base64'),
      formerMasterKeys: [],
    })
    await expect.poll(() => chatOnBoth(first), SOON).toEqual(['401 invalid_key', '401 invalid_key'])
    expect(await chatOnBoth(other)).toEqual(['401 invalid_key', '401 invalid_key'])
    expect(await chatOnBoth(await mint('frank'))).toEqual(['200', '200'])
    const keySet = await fetch(`${second.gatewayUrl}/.well-known/jwks.json`)
    const kids = ((await keySet.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid)
    expect(kids).toHaveLength(2)
    expect(kids).not.toContain(decodeProtectedHeader(first).kid)
  })

  test('cost the database nothing once they are known', async () => {
    const token = await mint('dora')
    expect(await chatOnBoth(token)).toEqual(['200', '200'])
    const { pool } = app.database
    await pool.query('alter table end_users rename to gone')
    try {
      expect(await chatOnBoth(token)).toEqual(['200', '200'])
    } finally {
      await pool.query('alter table gone rename to end_users')
    }
  })

  test('share the mint limits of an address and of a key', async () => {
    const ask = (url: string | undefined, ip: string, key: string) =>
      post(url, '/v1/client-tokens', { key, body: mintBody('eve'), ip })
    const { key } = await app.createKey({})
    const outcomes: string[] = []
    for (const ip of ['198.51.100.1', '198.51.100.2']) {
      const calls = Array.from({ length: 62 }, (_, n) =>
        ask(n % 2 === 0 ? app.gatewayUrl : second.gatewayUrl, ip, key),
      )
      outcomes.push(...(await Promise.all(calls)).map(({ outcome }) => outcome))
    }
    expect(outcomes.filter(each => each === '201')).toHaveLength(120)
    expect(outcomes.filter(each => each === '429 mint_rate_limit_exceeded')).toHaveLength(4)
    const refused = await ask(second.gatewayUrl, '198.51.100.3', key)
    expect(refused.outcome).toBe('429 mint_rate_limit_exceeded')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
