import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, openApp } from '../../app/app.ts'
import { parseConfig } from '../../app/settings/settings.ts'
import { gateAnswers } from '../../testing/fakes/gated-answers.ts'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
  type UpstreamAnswer,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp, toUrl } from '../../testing/harness/app.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const CHAT = { model: 'custom/m', messages: [{ role: 'user', content: 'hi' }] }

describe.skipIf(redisProgram === undefined)('two gateways of one database', () => {
  let redis: TestRedis
  let upstream: ScriptedUpstream
  let app: TestApp
  let second: App
  const homes: string[] = []

  const openSecond = (): Promise<App> => {
    const home = mkdtempSync(path.join(tmpdir(), 'rideau-second-'))
    homes.push(home)
    return openApp(
      parseConfig({
        DATABASE_URL: toUrl(app.database.connection),
        RIDEAU_DATA_DIR: home,
        RIDEAU_MASTER_KEY: MASTER_KEY,
        RIDEAU_WORKERS: '1',
        RIDEAU_GATEWAY_PORT: '0',
        RIDEAU_METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
        REDIS_URL: redis.url,
      }),
      { gateway: true, control: false },
      pino({ level: 'silent' }),
      TEST_OVERRIDES,
    )
  }

  beforeAll(async () => {
    redis = await startTestRedis()
    upstream = await openScriptedUpstream()
    app = await openTestApp({ REDIS_URL: redis.url, RIDEAU_MASTER_KEY: MASTER_KEY })
    await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
    second = await openSecond()
  })
  afterAll(async () => {
    await second.close()
    await app.close()
    await redis.stop()
    await upstream.close()
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })

  async function call(url: string | undefined, key: string, body: object = CHAT): Promise<string> {
    const response = await fetch(`${url}/v1/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${app.secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 200) return `${response.status} ${JSON.parse(text).error.code}`
    return `${response.headers.get('idempotent-replayed') === 'true' ? 'replayed' : 'made'} ${text.length}`
  }

  const gate = (...answers: UpstreamAnswer[]) => gateAnswers(upstream, answers)
  const kindOf = (outcome: string): string => outcome.split(' ')[0] as string

  test.each([
    ['an answer', CHAT, completion('hello')],
    ['a stream', { ...CHAT, stream: true }, streamedCompletion('one', ' two')],
  ])('replay %s that the other one made', async (_name, body, answer) => {
    upstream.script(answer, json(500, {}))
    const before = upstream.requests.length
    const key = randomUUID()
    const first = await call(app.gatewayUrl, key, body)
    expect(await call(second.gatewayUrl, key, body)).toBe(first.replace('made', 'replayed'))
    expect(await call(second.gatewayUrl, key, { ...body, max_output_tokens: 9 })).toBe(
      '409 idempotency_conflict',
    )
    expect(upstream.requests.length).toBe(before + 1)
  })

  test('make one answer for requests that arrive at both at the same time', async () => {
    const provider = gate(completion('hello'))
    const key = randomUUID()
    const calls = Array.from({ length: 20 }, (_, n) =>
      call(n % 2 === 0 ? app.gatewayUrl : second.gatewayUrl, key),
    )
    await provider.arrived()
    provider.open()
    const kinds = (await Promise.all(calls)).map(kindOf).sort()
    expect(kinds).toEqual(['made', ...Array(19).fill('replayed')])
    expect(provider.calls()).toBe(1)
  })

  test('let one that waits at the other gateway run after a failure', async () => {
    const provider = gate(json(400, { error: { message: 'no' } }), completion('hello'))
    const key = randomUUID()
    const first = call(app.gatewayUrl, key)
    await provider.arrived()
    const rest = [call(second.gatewayUrl, key), call(second.gatewayUrl, key)]
    provider.open()
    expect(await first).toBe('400 provider_rejected')
    await provider.arrived()
    expect(provider.calls()).toBe(2)
    provider.open()
    expect((await Promise.all(rest)).map(kindOf).sort()).toEqual(['made', 'replayed'])
  })

  test('take over the key of a process that is gone, and wait for one that renews its row', async () => {
    const { pool } = app.database
    const claims = async () => (await pool.query('select owner from idempotent_answers')).rows
    upstream.script(completion('hello'))
    const key = randomUUID()
    expect(await call(app.gatewayUrl, key)).toMatch(/^made/)
    const owner = randomUUID()
    await pool.query('insert into idempotency_owners values ($1, now())', [owner])
    // As if the owner had claimed the key and not answered yet.
    await pool.query(
      `update idempotent_answers set owner = $1, expires_at = null, answer_cipher = null, id = $2
        where owner = (select owner from idempotent_answers order by claimed_at desc limit 1)
          and claimed_at = (select max(claimed_at) from idempotent_answers)`,
      [owner, randomUUID()],
    )
    expect(await claims()).toContainEqual({ owner })
    const before = upstream.requests.length
    let isAnswered = false
    const waiting = call(second.gatewayUrl, key).then(outcome => {
      isAnswered = true
      return outcome
    })
    // The gateways answer other keys meanwhile.
    expect(await call(second.gatewayUrl, randomUUID())).toMatch(/^made/)
    expect([isAnswered, upstream.requests.length]).toEqual([false, before + 1])
    await pool.query('delete from idempotency_owners where id = $1', [owner])
    expect(await waiting).toMatch(/^made/)
    expect(upstream.requests.length).toBe(before + 2)
  })

  test('free the keys of a gateway that is closed in the middle of an answer', async () => {
    const third = await openSecond()
    const provider = gate(completion('hello'))
    const key = randomUUID()
    const first = call(third.gatewayUrl, key)
    await provider.arrived()
    const waiting = call(app.gatewayUrl, key)
    await third.close()
    expect(await first).toBe('502 stream_interrupted')
    await expect.poll(provider.calls, { timeout: 20_000 }).toBe(2)
    provider.open()
    provider.open()
    expect(await waiting).toMatch(/^made/)
  })
})
