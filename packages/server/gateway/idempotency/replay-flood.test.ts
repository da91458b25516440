import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

/** One environment repeats its calls and its refusals without end; another one of the same deployment makes a few calls. */

/** The replays and the refusals of a run: RIDEAU_TEST_REPLAYS=1000000 makes a million of each. */
const REPLAYS = Number(process.env.RIDEAU_TEST_REPLAYS ?? 2_000)
const LOOPS = 16
const TIMEOUT_MS = 120_000 + REPLAYS * 5

let app: TestApp
let upstream: ScriptedUpstream
let honestKey: string
const agent = new http.Agent({ keepAlive: true })

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  app = await openTestApp()
  const credential = { api_key: 'k', base_url: upstream.baseUrl }
  await app.addCredential('custom', credential)
  await app.addCredential('custom', credential, app.productionId)
  honestKey = (await app.createKey({}, app.productionId)).key
  upstream.script(completion('hello'))
})
afterAll(async () => {
  agent.destroy()
  await app.close()
  await upstream.close()
})

function send(key: string, model: string, headers: Record<string, string> = {}): Promise<number> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })
  const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
  return new Promise((resolve, reject) => {
    const req = http.request(`${app.gatewayUrl}/v1/chat`, { agent, method: 'POST', headers: all }, res => {
      res.on('error', reject)
      res.on('end', () => resolve(res.statusCode ?? 0))
      res.resume()
    })
    req.on('error', reject)
    req.end(body)
  })
}

/** Sends `count` requests in loops. Returns how often each status came. */
async function flood(count: number, ask: (index: number) => Promise<number>): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  let next = 0
  const loop = async (): Promise<void> => {
    while (next < count) {
      const status = await ask(next++)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: LOOPS }, loop))
  return statuses
}

const countRecords = async (environmentId: string): Promise<number> => {
  const query = 'select count(*)::int as records from usage_records where environment_id = $1'
  return (await app.database.pool.query(query, [environmentId])).rows[0].records
}

test(
  'replays cost no provider, no usage and no record, and another environment is served and billed exactly',
  async () => {
    const before = upstream.requests.length
    const keyed = { 'idempotency-key': 'the same' }
    const flooding = flood(REPLAYS, () => send(app.secretKey, 'custom/m', keyed))
    const honest = await flood(50, () => send(honestKey, 'custom/m'))
    expect([...(await flooding)]).toEqual([[200, REPLAYS]])
    expect([...honest]).toEqual([[200, 50]])
    expect(upstream.requests.length - before).toBe(51)
    await expect.poll(() => countRecords(app.productionId), { timeout: 20_000 }).toBe(50)
    expect(await countRecords(app.developmentId)).toBe(1)
  },
  TIMEOUT_MS,
)

test(
  'conflicting replays and refused requests reach no provider, and another environment is served and billed exactly',
  async () => {
    await send(app.secretKey, 'custom/m', { 'idempotency-key': 'taken' })
    const before = upstream.requests.length
    const flooding = flood(REPLAYS, index =>
      index % 2 === 0
        ? send(app.secretKey, 'custom/other', { 'idempotency-key': 'taken' })
        : send(app.secretKey, 'nobody/nothing'),
    )
    const honest = await flood(50, () => send(honestKey, 'custom/m'))
    const statuses = await flooding
    expect([...statuses].sort()).toEqual([
      [404, REPLAYS / 2],
      [409, REPLAYS / 2],
    ])
    expect([...honest]).toEqual([[200, 50]])
    expect(upstream.requests.length - before).toBe(50)
    await expect.poll(() => countRecords(app.productionId), { timeout: 20_000 }).toBe(100)
  },
  TIMEOUT_MS,
)
