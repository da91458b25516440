import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../packages/server/testing/fakes/scripted-upstream.ts'
import { PRICED, PRICED_CHAT, USED } from '../packages/server/testing/harness/limited-app.ts'
import { whileFrozen } from './frozen-server.ts'
import { type Keys, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'
import {
  type Answer,
  connectToEach,
  countConnections,
  listWorkers,
  type WorkerConnections,
  whileStopped,
} from './worker-connections.ts'

/** Enough for a race of 150 requests at each worker, of which the admitted ones run at the same time. */
const CONNECTIONS = 50

describe.runIf(process.platform === 'linux')('two workers act as one process', () => {
  let home: ProgramHome
  let program: Program
  let keys: Keys
  let provider: ScriptedUpstream
  let one: WorkerConnections
  let two: WorkerConnections

  beforeAll(async () => {
    provider = await openScriptedUpstream()
    home = await openProgramHome()
    program = await home.start({ RIDEAU_WORKERS: '2' })
    keys = await setUp(program)
    const pids = listWorkers(program.pid)
    ;[one, two] = await connectToEach(program.gatewayUrl, pids as [number, number], CONNECTIONS)
    const environment = `/v1/environments/${keys.developmentId}`
    for (const provider of ['custom', 'custom-other']) {
      const credential = { provider, name: provider, api_key: 'k', base_url: baseUrl() }
      await manage('POST', `${environment}/provider-credentials`, credential)
    }
    await manage('POST', `${environment}/custom-models`, {
      model: PRICED,
      capabilities: ['chat'],
      context_window: 100_000,
      max_output_tokens: 10_000,
      pricing: { input_usd_per_mtok: 0, output_usd_per_mtok: 50 },
    })
    for (const [alias, model] of [
      ['safe', 'custom-other/m'],
      ['fallible', 'custom-other/failing'],
    ]) {
      const targets = [{ model }, { model: 'sandbox/echo' }]
      await manage('POST', `${environment}/model-aliases`, { alias, strategy: 'priority', targets })
    }
  }, 240_000)
  afterAll(async () => {
    for (const each of [one, two]) each?.close()
    await program?.stop()
    await provider?.close()
    home?.remove()
  }, 60_000)
  beforeEach(() => provider.script(completion('hello', { usage: USED })))

  const baseUrl = (): string => provider.baseUrl

  async function manage(method: string, route: string, body?: unknown): Promise<any> {
    const response = await fetch(program.controlUrl + route, {
      method,
      headers: { authorization: `Bearer ${keys.managementKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${route}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  function call(
    worker: WorkerConnections,
    { key = keys.secretKey, headers = {}, body = PRICED_CHAT as unknown, mayMove = false } = {},
  ): Promise<Answer> {
    return worker.send('/openai/v1/chat/completions', {
      headers: { authorization: `Bearer ${key}`, ...headers },
      body,
      mayMove,
    })
  }

  async function makeKey(): Promise<{ id: string; key: string }> {
    return await manage('POST', `/v1/environments/${keys.developmentId}/keys`, {
      kind: 'secret',
      name: 'own',
    })
  }

  async function metric(name: string): Promise<number> {
    const [, url] = /"metrics_url":"([^"]+)"/.exec(program.output()) ?? []
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find(line => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1),
    )
  }

  /**
   * Resolves once each worker knows what the other one has sent before the call. A write waits until both workers have
   * answered, and their messages arrive in order: after the first write the supervisor has read everything, and after
   * the second one the workers have what it passed on.
   */
  async function whenBothKnow(): Promise<void> {
    for (let round = 0; round < 2; round++) await makeKey()
  }

  /** Lets the provider answer nothing until `release`. `count` returns how many calls it has got. */
  function pauseProvider(): { count: () => number; release: () => void } {
    let release: () => void = () => {}
    let count = 0
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    provider.script(async (res, seen) => {
      count++
      await released
      await completion('hello', { usage: USED })(res, seen)
    })
    return { count: () => count, release }
  }

  const each = (): [WorkerConnections, WorkerConnections][] => [
    [one, two],
    [two, one],
  ]

  test('a cancel at one stops a request of the other, and an unknown request is canceled by none', async () => {
    const cancel = async (worker: WorkerConnections, id: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${keys.secretKey}` }
      const { text } = await worker.send(`/v1/requests/${id}/cancel`, { headers, body: {} })
      return JSON.parse(text).canceled
    }
    for (const [runs, cancels] of each()) {
      const provided = pauseProvider()
      const id = randomUUID()
      const running = call(runs, { headers: { 'x-request-id': id } })
      await expect.poll(provided.count).toBe(1)
      expect(await cancel(cancels, randomUUID())).toBe(false)
      expect(await cancel(cancels, id)).toBe(true)
      const { status, text } = await running
      expect([status, JSON.parse(text).error.code]).toEqual([400, 'request_canceled'])
      provided.release()
    }
  })

  test('an X-Request-Id of the caller names one request, whichever of them gets the second', async () => {
    for (const [first, second] of each()) {
      const id = randomUUID()
      const headers = { 'x-request-id': id }
      expect((await call(first, { headers })).headers['x-request-id']).toBe(id)
      expect((await call(second, { headers })).headers['x-request-id']).not.toBe(id)
    }
  })

  test('feedback at one about an answer that the other has just given is kept', async () => {
    for (const [first, second] of each()) {
      const { headers } = await call(first)
      const answer = await second.send('/v1/feedback', {
        headers: { authorization: `Bearer ${keys.secretKey}` },
        body: { request_id: headers['x-request-id'], score: 1 },
      })
      expect(answer).toMatchObject({ status: 201 })
    }
  })

  test('requests of one Idempotency-Key at both make one provider call', async () => {
    for (const [first, second] of each()) {
      const provided = pauseProvider()
      const headers = { 'idempotency-key': randomUUID() }
      const made = call(first, { headers })
      await expect.poll(provided.count).toBe(1)
      const joined = call(second, { headers })
      // One that waits for another one's answer has a place too.
      await expect.poll(() => metric('rideau_requests_open')).toBe(2)
      provided.release()
      const answers = await Promise.all([made, joined])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(answers.map(answer => answer.headers['idempotent-replayed'])).toEqual([undefined, 'true'])
      expect(answers[1]?.text).toBe(answers[0]?.text)
      expect(provided.count()).toBe(1)
    }
  })

  test('a target that its provider limits at one is passed over by the other', async () => {
    const body = { ...PRICED_CHAT, model: 'safe' }
    provider.script(json(429, { error: { message: 'too many' } }, { 'retry-after': '60' }))
    expect((await call(one, { body })).headers['x-rideau-model']).toBe('sandbox/echo')
    await whenBothKnow()
    const before = provider.requests.length
    expect((await call(two, { body })).headers['x-rideau-model']).toBe('sandbox/echo')
    expect(provider.requests.length).toBe(before)
  })

  test('a circuit that one opens is open at the other', async () => {
    const body = { ...PRICED_CHAT, model: 'fallible' }
    const openings = await metric('rideau_circuit_openings_total')
    provider.script(json(503, {}))
    const openAtOne = async (): Promise<number> => {
      await call(one, { body })
      return await metric('rideau_circuit_openings_total')
    }
    await expect.poll(openAtOne, { timeout: 30_000 }).toBe(openings + 1)
    await whenBothKnow()
    const skips = await metric('rideau_circuit_skips_total')
    const provided = pauseProvider()
    let answered = 0
    // Few, so that the worker closes none of their connections to spread its load.
    const calls = Array.from({ length: 8 }, async () => {
      const { headers } = await call(two, { body })
      answered++
      return headers['x-rideau-model']
    })
    // The open circuit lets one request through as its probe, if its time has come.
    await expect.poll(() => answered).toBeGreaterThanOrEqual(7)
    expect(provided.count()).toBe(8 - answered)
    provided.release()
    const models = await Promise.all(calls)
    expect(models.filter(model => model === 'sandbox/echo').length).toBeGreaterThanOrEqual(7)
    expect(await metric('rideau_circuit_skips_total')).toBeGreaterThanOrEqual(skips + 7)
  })

  test('/metrics shows the sum of both', async () => {
    const name = 'rideau_requests_total{status="2xx"}'
    const before = await metric(name)
    const provided = pauseProvider()
    const running = [call(one), call(one), call(two), call(two), call(two)]
    await expect.poll(provided.count).toBe(5)
    // Requests of earlier tests may still be ending.
    await expect.poll(() => metric('rideau_requests_open')).toBe(5)
    expect(await metric('rideau_connections_open')).toBeGreaterThanOrEqual(2 * CONNECTIONS)
    provided.release()
    await Promise.all(running)
    await expect.poll(() => metric(name)).toBe(before + 5)
    expect(await metric('rideau_workers')).toBe(2)
  })

  test('a revoked key is refused by both from the answer of its revocation on', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, key } = await makeKey()
      expect(
        (await Promise.all([call(one, { key }), call(two, { key })])).map(({ status }) => status),
      ).toEqual([200, 200])
      await manage('DELETE', `/v1/keys/${id}`)
      const refused = await Promise.all([call(one, { key }), call(two, { key })])
      expect(refused.map(({ status, text }) => [status, JSON.parse(text).error.code])).toEqual([
        [401, 'key_revoked'],
        [401, 'key_revoked'],
      ])
    }
  })

  test('a key that one has loaded is known to the other while the database is frozen', async () => {
    for (const [first, second] of each()) {
      let status = 0
      // The other one loads it in the background, so a busy machine may need more time. A key that it did not get is not tried again.
      for (let attempt = 1; attempt <= 8 && status !== 200; attempt++) {
        const { key } = await makeKey()
        expect((await call(first, { key })).status).toBe(200)
        await sleep(25 * 2 ** attempt)
        ;({ status } = await whileFrozen(home, () => call(second, { key })))
      }
      expect(status).toBe(200)
    }
  }, 120_000)

  test('a concurrency limit counts the requests of both, and a slot is free for the other once its request is answered', async () => {
    const { id, key } = await makeKey()
    const limit = { scope: 'key', scope_ref: id, metric: 'concurrency', limit: 2 }
    await manage('POST', `/v1/environments/${keys.developmentId}/limits`, limit)
    const provided = pauseProvider()
    const running = [call(one, { key }), call(two, { key })]
    await expect.poll(provided.count).toBe(2)
    for (const worker of [one, two]) {
      const { status, text } = await call(worker, { key })
      expect([status, JSON.parse(text).error.code]).toEqual([429, 'concurrency_limit_exceeded'])
    }
    provided.release()
    await Promise.all(running)
    for (let round = 0; round < 50; round++) {
      const pair = round % 2 === 0 ? [one, one] : [two, two]
      const answers = await Promise.all((pair as [typeof one, typeof one]).map(each => call(each, { key })))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    }
  })

  test('admits 20 of 300 racing requests of exactly $0.05 against $1.00, and the budget never shows more', async () => {
    const { id, key } = await makeKey()
    const route = `/v1/projects/${keys.projectId}/budgets`
    const own = { limit_usd: 1, window: 'month', scope: 'key', scope_ref: id }
    const { id: budgetId } = await manage('POST', route, own)
    const readBudget = async (): Promise<{ spent_usd: number; reserved_usd: number }> =>
      (await manage('GET', route)).data.find((budget: { id: string }) => budget.id === budgetId)
    const provided = pauseProvider()
    let refused = 0
    const calls = Array.from({ length: 300 }, async (_, index) => {
      const answer = await call(index % 2 === 0 ? one : two, { key, mayMove: true })
      if (answer.status === 200) return answer.status
      // Answers after every refusal only, so that all reservations exist at the same time.
      if (++refused === 280) {
        const { spent_usd, reserved_usd } = await readBudget()
        expect(spent_usd + reserved_usd).toBeCloseTo(1, 9)
        provided.release()
      }
      return answer.status
    })
    const statuses = await Promise.all(calls)
    const count = (status: number): number => statuses.filter(each => each === status).length
    expect([count(200), count(402), provided.count()]).toEqual([20, 280, 20])
    await expect.poll(async () => (await readBudget()).reserved_usd, { timeout: 30_000 }).toBe(0)
    expect((await readBudget()).spent_usd).toBe(1)
  }, 60_000)

  test('a worker with all connections that are busy closes some with their answers, and no request fails', async () => {
    const { port } = new URL(program.gatewayUrl)
    const agent = new http.Agent({ keepAlive: true })
    const post = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${keys.secretKey}`, 'content-type': 'application/json' }
        const url = `${program.gatewayUrl}/openai/v1/chat/completions`
        const request = http.request(url, { method: 'POST', agent, headers }, response => {
          response.resume()
          response.on('error', reject)
          response.on('end', () => resolve(response.statusCode ?? 0))
        })
        request.on('error', reject)
        request.end(JSON.stringify(PRICED_CHAT))
      })
    let isOver = false
    const statuses = new Set<number>()
    const caller = async (): Promise<void> => {
      while (!isOver) statuses.add(await post())
    }
    const count = ({ pid }: WorkerConnections): number => countConnections(pid, port)
    const [atOne, atTwo] = [count(one), count(two)]
    const callers: Promise<void>[] = []
    try {
      await whileStopped(two.pid, async () => {
        for (let index = 0; index < 40; index++) callers.push(caller())
        await expect.poll(() => count(one), { timeout: 30_000 }).toBeGreaterThanOrEqual(atOne + 40)
      })
      await expect.poll(() => count(two), { timeout: 60_000 }).toBeGreaterThanOrEqual(atTwo + 10)
    } finally {
      isOver = true
      await Promise.all(callers)
    }
    agent.destroy()
    expect([...statuses]).toEqual([200])
  }, 120_000)
})
