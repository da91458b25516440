import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../packages/server/storage/embedded/server-processes.ts'
import {
  completion,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../packages/server/testing/fakes/scripted-upstream.ts'
import { redisProgram, startTestRedis } from '../packages/server/testing/harness/redis.ts'
import { type Keys, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'
import { listWorkers as listWorkersOf, whileStopped } from './worker-connections.ts'

const WORKERS = 2
const LIMIT = 20
const CHAT = { model: 'custom/m', messages: [{ role: 'user', content: 'hello' }] }

let home: ProgramHome
let program: Program
let keys: Keys
let provider: ScriptedUpstream

/** The processes of the workers. */
const listWorkers = (): number[] => listWorkersOf(program.pid)

async function manage(method: string, route: string, body?: unknown): Promise<any> {
  const response = await fetch(program.controlUrl + route, {
    method,
    headers: { authorization: `Bearer ${keys.managementKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as any
  if (!response.ok) throw new Error(`${method} ${route}: ${JSON.stringify(answer)}`)
  return answer
}

function metricsUrl(): string {
  const [, url] = /"metrics_url":"([^"]+)"/.exec(program.output()) ?? []
  return `${url}/metrics`
}

/** A call on a connection of its own unless `keepsAlive`, so that the calls reach all workers. */
function call(key = keys.secretKey, keepsAlive = false): Promise<Response> {
  return fetch(`${program.gatewayUrl}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(keepsAlive ? {} : { connection: 'close' }),
    },
    body: JSON.stringify(CHAT),
  })
}

/** Calls in `loops` concurrent loops until `end` is called, which returns the statuses and the ids of all answers. */
function openLoad(loops: number): {
  count: () => number
  end: () => Promise<{ failed: unknown[]; ids: string[] }>
} {
  let isEnding = false
  const failed: unknown[] = []
  const ids: string[] = []
  const run = async (index: number): Promise<void> => {
    while (!isEnding) {
      try {
        const response = await call(keys.secretKey, index % 2 === 0)
        await response.text()
        if (response.status === 200) ids.push(response.headers.get('x-request-id') ?? '')
        else failed.push(response.status)
      } catch (error) {
        failed.push(error)
      }
    }
  }
  const running = Array.from({ length: loops }, (_, index) => run(index))
  return {
    count: () => ids.length,
    async end() {
      isEnding = true
      await Promise.all(running)
      return { failed, ids }
    },
  }
}

/** Returns the ids of these that are not in the log, and those that are there more than once. */
async function findMissing(ids: readonly string[]): Promise<{ missing: number; repeated: number }> {
  const counts = new Map<string, number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = await manage('GET', `/v1/environments/${keys.developmentId}/logs?limit=100${query}`)
    for (const { request_id: id } of page.data) counts.set(id, (counts.get(id) ?? 0) + 1)
    cursor = page.next_cursor
  }
  return {
    missing: ids.filter(id => !counts.has(id)).length,
    repeated: [...counts.values()].filter(count => count > 1).length,
  }
}

/** Waits until every one of these is in the log, once. */
async function expectLogged(ids: readonly string[]): Promise<void> {
  await expect
    .poll(() => findMissing(ids), { timeout: 60_000, interval: 250 })
    .toEqual({ missing: 0, repeated: 0 })
}

const start = async (env: Record<string, string> = {}): Promise<void> => {
  program = await home.start({ RIDEAU_WORKERS: String(WORKERS), ...env })
}

/** Makes a key with a limit of its own. */
async function makeKey(kind: 'quotas' | 'limits', fields: object): Promise<{ key: string; id: string }> {
  const environment = `/v1/environments/${keys.developmentId}`
  const { id, key } = await manage('POST', `${environment}/keys`, { kind: 'secret', name: 'limited' })
  await manage('POST', `${environment}/${kind}`, { scope: 'key', scope_ref: id, ...fields })
  return { id, key }
}

async function whenReplaced(old: readonly number[]): Promise<void> {
  await expect
    .poll(() => listWorkers().filter(pid => !old.includes(pid)).length, { timeout: 60_000, interval: 20 })
    .toBe(WORKERS)
}

/** Resolves once this worker has answered a request. */
async function whenServing(pid: number): Promise<void> {
  const [other] = listWorkers().filter(each => each !== pid)
  if (other !== undefined) await whileStopped(other, async () => void (await (await call()).text()))
}

const reply = completion('hello')

/** Lets the provider answer nothing until `release`. */
function hold(onCall: () => void): { release: () => void } {
  let release: () => void = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  provider.script(async (res, seen) => {
    onCall()
    await released
    return reply(res, seen)
  })
  return { release }
}

beforeAll(async () => {
  provider = await openScriptedUpstream()
  provider.script(reply)
  home = await openProgramHome()
  await start()
  keys = await setUp(program)
  const credential = { provider: 'custom', name: 'c', api_key: 'k', base_url: provider.baseUrl }
  await manage('POST', `/v1/environments/${keys.developmentId}/provider-credentials`, credential)
}, 240_000)
afterAll(async () => {
  await program?.stop()
  await provider?.close()
  home?.remove()
}, 60_000)

describe.runIf(process.platform === 'linux')('a gateway of two workers', () => {
  // Whatever a test that failed has left.
  afterEach(() => provider.script(reply))

  test('serves one port and one exact limit by both', async () => {
    const { key } = await makeKey('quotas', { metric: 'requests', window: 'month', limit: LIMIT })
    let running = 0
    const held = hold(() => running++)
    // One worker at a time accepts, since who is awake first may otherwise take all connections.
    const [first, second] = listWorkers() as [number, number]
    const callWithout = (stopped: number, count: number, expected: number): Promise<Promise<Response>[]> =>
      whileStopped(stopped, async () => {
        const calls = Array.from({ length: count }, () => call(key))
        for (const each of calls) each.catch(() => {})
        await expect.poll(() => running, { timeout: 30_000 }).toBe(expected)
        return calls
      })
    const calls = await callWithout(second, LIMIT / 2, LIMIT / 2)
    calls.push(...(await callWithout(first, LIMIT / 2, LIMIT)))
    calls.push(...Array.from({ length: 2 * LIMIT }, () => call(key)))
    const refused = await Promise.all(calls.slice(LIMIT))
    held.release()
    const answered = await Promise.all(calls.slice(0, LIMIT))
    expect(answered.map(({ status }) => status)).toEqual(answered.map(() => 200))
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 429))
    const metrics = await (await fetch(metricsUrl())).text()
    expect(metrics).toMatch(/^rideau_workers 2$/m)
    expect(metrics).toMatch(new RegExp(`^rideau_requests_total\\{status="2xx"\\} ${LIMIT}$`, 'm'))
    for (const url of [program.gatewayUrl, program.controlUrl]) {
      expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready', reasons: [] })
    }
  }, 60_000)

  test('replaces a killed worker, and has each of its answers in the log once', async () => {
    const old = listWorkers()
    const load = openLoad(8)
    await expect.poll(() => load.count(), { timeout: 60_000 }).toBeGreaterThan(150)
    const [first] = old as [number, number]
    process.kill(first, 'SIGKILL')
    await expect
      .poll(() => listWorkers().filter(pid => pid !== first).length, { timeout: 60_000 })
      .toBe(WORKERS)
    const soFar = load.count()
    await expect.poll(() => load.count(), { timeout: 60_000 }).toBeGreaterThan(soFar + 100)
    const { ids } = await load.end()
    await expectLogged(ids)
    await expect
      .poll(() => readdirSync(path.join(home.dataDir, 'journal')).length, { timeout: 60_000 })
      .toBe(WORKERS)
  }, 180_000)

  test('frees the slots of the requests of killed workers', async () => {
    const { key } = await makeKey('limits', { metric: 'concurrency', limit: 4 })
    let running = 0
    provider.script(() => void running++)
    const calls = Array.from({ length: 4 }, () => call(key).catch(() => undefined))
    await expect.poll(() => running, { timeout: 30_000 }).toBe(4)
    expect((await call(key)).status).toBe(429)
    const old = listWorkers()
    for (const pid of old) process.kill(pid, 'SIGKILL')
    await Promise.all(calls)
    await whenReplaced(old)
    provider.script(reply)
    await expect
      .poll(async () => (await Promise.all([1, 2, 3, 4].map(() => call(key)))).map(({ status }) => status), {
        timeout: 30_000,
      })
      .toEqual([200, 200, 200, 200])
  }, 120_000)

  test('replaces all workers on SIGHUP without a failed request', async () => {
    const old = listWorkers()
    // One that is still starting is new enough, and is not replaced.
    for (const pid of old) await whenServing(pid)
    const load = openLoad(8)
    await expect.poll(() => load.count(), { timeout: 60_000 }).toBeGreaterThan(50)
    process.kill(program.pid, 'SIGHUP')
    await expect
      .poll(() => program.output(), { timeout: 60_000 })
      .toContain('all gateway workers were replaced')
    const soFar = load.count()
    await expect.poll(() => load.count(), { timeout: 60_000 }).toBeGreaterThan(soFar + 100)
    const { failed, ids } = await load.end()
    expect(failed).toEqual([])
    await expectLogged(ids)
    // Once the connections that this process keeps have ended.
    await expect.poll(() => old.filter(isAlive), { timeout: 120_000 }).toEqual([])
    expect(listWorkers()).toHaveLength(WORKERS)
  }, 240_000)

  test('finds what was journaled before RIDEAU_WORKERS was changed, in both directions', async () => {
    const answered: string[] = []
    for (const workers of [WORKERS, 1]) {
      const load = openLoad(8)
      await expect.poll(() => load.count(), { timeout: 60_000 }).toBeGreaterThan(50)
      const pids = listWorkers()
      await program.kill()
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      answered.push(...(await load.end()).ids)
      await start({ RIDEAU_WORKERS: String(workers === 1 ? WORKERS : 1) })
    }
    expect(listWorkers()).toHaveLength(WORKERS)
    await expectLogged(answered)
  }, 240_000)

  test('ends its workers at once when its supervisor is killed, so that it starts again on the same port', async () => {
    let running = 0
    provider.script(() => void running++)
    const calls = Array.from({ length: 4 }, () => call().catch(() => undefined))
    await expect.poll(() => running, { timeout: 30_000 }).toBe(4)
    const pids = listWorkers()
    await program.kill()
    await start()
    expect(pids.filter(isAlive)).toEqual([])
    const cut = await Promise.all(calls)
    expect(cut.map(answer => answer?.status)).not.toContain(200)
    provider.script(reply)
    expect((await call()).status).toBe(200)
    await expectLogged(cut.flatMap(answer => answer?.headers.get('x-request-id') ?? []))
    await expect
      .poll(() => readdirSync(path.join(home.dataDir, 'journal')).length, { timeout: 60_000 })
      .toBe(WORKERS)
  }, 240_000)

  test('reports a worker that cannot start, tries again, and does not start where none can', async () => {
    const list = path.join(home.dataDir, 'revoked.json')
    writeFileSync(list, '{"entries":{}}')
    await program.stop()
    await start({ RIDEAU_ANDROID_REVOCATION_LIST: list })
    rmSync(list)
    const old = listWorkers()
    process.kill(old[0] as number, 'SIGKILL')
    await expect.poll(() => program.output(), { timeout: 60_000 }).toContain('"alarm":"workers"')
    expect((await call()).status).toBe(200)
    writeFileSync(list, '{"entries":{}}')
    await expect.poll(() => listWorkers().length, { timeout: 60_000 }).toBe(WORKERS)
    expect(await program.stop()).toBe(0)
    rmSync(list)
    await expect(start({ RIDEAU_ANDROID_REVOCATION_LIST: list })).rejects.toThrow(
      'rideau: RIDEAU_ANDROID_REVOCATION_LIST: must be',
    )
    await start()
  }, 240_000)

  test('after SIGTERM lets running requests end and leaves nothing behind', async () => {
    let running = 0
    const held = hold(() => running++)
    const calls = Array.from({ length: 8 }, () => call())
    await expect.poll(() => running, { timeout: 30_000 }).toBe(8)
    const pids = listWorkers()
    const stopped = program.stop()
    await expect.poll(() => program.output()).toContain('stopping after the running requests')
    held.release()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array.from(calls, () => 200))
    expect(await stopped).toBe(0)
    expect(program.output()).toContain('stopped: 8 requests finished, 0 requests cut')
    expect(pids.filter(isAlive)).toEqual([])
    expect(readdirSync(path.join(home.dataDir, 'journal'))).toEqual([])
    await start()
  }, 240_000)

  test('after a second SIGTERM cuts its requests and leaves no worker', async () => {
    let running = 0
    provider.script(() => void running++)
    const calls = Array.from({ length: 4 }, async () => (await call()).status)
    await expect.poll(() => running, { timeout: 30_000 }).toBe(4)
    const pids = listWorkers()
    const stopped = program.stop()
    await expect.poll(() => program.output()).toContain('stopping after the running requests')
    const stoppedAt = performance.now()
    await expect.poll(() => performance.now() - stoppedAt, { timeout: 10_000 }).toBeGreaterThan(1_100)
    process.kill(program.pid, 'SIGTERM')
    await Promise.allSettled(calls)
    expect(await stopped).toBe(1)
    expect(program.output()).toContain('0 requests finished, 4 requests cut')
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
    await start()
  }, 240_000)

  test.skipIf(redisProgram === undefined)(
    'counts one exact limit on Redis',
    async () => {
      const redis = await startTestRedis()
      try {
        await program.stop()
        await start({ REDIS_URL: redis.url })
        const { key } = await makeKey('quotas', { metric: 'requests', window: 'month', limit: LIMIT })
        const statuses = await Promise.all(
          Array.from({ length: 3 * LIMIT }, async () => (await call(key)).status),
        )
        expect(statuses.filter(status => status === 200)).toHaveLength(LIMIT)
        expect(statuses.filter(status => status === 429)).toHaveLength(2 * LIMIT)
        await program.stop()
      } finally {
        await redis.stop()
      }
      await start()
    },
    240_000,
  )
})
