import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Keys, manage, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'
import { listWorkers } from './worker-connections.ts'

/** Sends requests until it is stopped; returns the ids of those that got their whole answer. */
async function load(
  gatewayUrl: string,
  secretKey: string,
  workers: number,
): Promise<{ answered: string[]; ended: Promise<void> }> {
  const answered: string[] = []
  const work = async (): Promise<void> => {
    for (;;) {
      try {
        const response = await fetch(`${gatewayUrl}/v1/chat`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hello' }] }),
        })
        const body = (await response.json()) as { id: string }
        if (response.status === 200) answered.push(body.id)
      } catch {
        return
      }
    }
  }
  return { answered, ended: Promise.all(Array.from({ length: workers }, work)).then(() => {}) }
}

async function listAllLogs(
  controlUrl: string,
  { managementKey, developmentId }: Keys,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${controlUrl}/v1/environments/${developmentId}/logs?limit=100${query}`, {
      headers: { authorization: `Bearer ${managementKey}` },
    })
    const page = (await response.json()) as { data: { request_id: string }[]; next_cursor: string | null }
    for (const { request_id } of page.data) counts.set(request_id, (counts.get(request_id) ?? 0) + 1)
    cursor = page.next_cursor
  }
  return counts
}

describe.each([
  // At their reservation.
  { workers: 1, isSettled: (spent: number, held: number) => spent >= held - 1e-9 },
  // At what they have used, which their worker still records.
  { workers: 2, isSettled: (spent: number, held: number) => spent > 0 && spent < held },
])('with gateway workers: $workers', ({ workers, isSettled }) => {
  let home: ProgramHome
  let program: Program
  let keys: Keys

  beforeAll(async () => {
    home = await openProgramHome()
    await start()
    keys = await setUp(program)
  }, 240_000)
  afterAll(async () => {
    await program?.stop()
    home.remove()
  })

  const start = async (): Promise<void> => {
    program = await home.start({ RIDEAU_WORKERS: String(workers) })
  }

  test('kill -9 under load keeps the record of every answered request, each counted once', async () => {
    const all: string[] = []
    for (let round = 0; round < 3; round++) {
      const running = await load(program.gatewayUrl, keys.secretKey, 8)
      await expect.poll(() => running.answered.length, { timeout: 120_000 }).toBeGreaterThan(150)
      await program.kill()
      await running.ended
      all.push(...running.answered)
      await start()
    }
    const missing = async (): Promise<number> => {
      const logged = await listAllLogs(program.controlUrl, keys)
      return all.filter(id => !logged.has(id)).length
    }
    await expect.poll(missing, { timeout: 120_000, interval: 250 }).toBe(0)
    const logged = await listAllLogs(program.controlUrl, keys)
    expect([...logged.values()].filter(count => count !== 1)).toEqual([])
  }, 600_000)

  const control = (method: string, route: string, body?: unknown): Promise<any> =>
    manage({ ...keys, controlUrl: program.controlUrl }, method, route, body)

  /** Cuts three requests off by `kill`. Returns what they had reserved and what is spent for them after the next start. */
  async function cutOff(kill: () => Promise<void>): Promise<{ held: number; spent: number }> {
    const route = `/v1/projects/${keys.projectId}/budgets`
    const budgetId = (await control('POST', route, { limit_usd: 100, window: 'month' })).id
    const budget = async (): Promise<{ spent_usd: number; reserved_usd: number }> =>
      (await control('GET', route)).data.find(({ id }: { id: string }) => id === budgetId)
    const known = new Set((await slowLogs()).map(log => log.request_id))
    const before = await budget()
    const body = { model: 'sandbox/slow', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] }
    const call = () =>
      fetch(`${program.gatewayUrl}/v1/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.secretKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).catch(() => {})
    const reserved = async () => (await budget()).reserved_usd
    const calls = [call()]
    await expect.poll(reserved, { timeout: 30_000 }).toBeGreaterThan(0)
    const heldByOne = await reserved()
    calls.push(call(), call())
    // One that has reserved nothing when the ledger goes away is refused.
    await expect.poll(reserved, { timeout: 30_000 }).toBeCloseTo(3 * heldByOne, 9)
    const held = await reserved()
    await kill()
    await Promise.all(calls)
    await start()
    const listCut = async (): Promise<any[]> => (await slowLogs()).filter(log => !known.has(log.request_id))
    await expect.poll(async () => (await listCut()).length, { timeout: 60_000 }).toBe(calls.length)
    const cut = await listCut()
    for (const each of cut)
      expect(each).toMatchObject({ usage_estimated: true, error_code: 'stream_interrupted' })
    const spent = cut.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
    const after = await budget()
    expect(after.reserved_usd).toBe(0)
    expect(after.spent_usd).toBeCloseTo(before.spent_usd + spent, 9)
    return { held, spent }
  }

  const slowLogs = async (): Promise<any[]> =>
    (await control('GET', `/v1/environments/${keys.developmentId}/logs?model=sandbox/slow`)).data

  test('requests that a kill -9 of all processes cuts off are settled once, at their reservation, which is then returned', async () => {
    const { held, spent } = await cutOff(async () => {
      const pids = listWorkers(program.pid)
      // In one tick, so that no worker does anything without its supervisor.
      const killed = program.kill()
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      await killed
    })
    expect(spent).toBeGreaterThanOrEqual(held - 1e-9)
  }, 300_000)

  test('requests that a kill -9 of the first process cuts off are settled once', async () => {
    const { held, spent } = await cutOff(() => program.kill())
    expect(spent).toSatisfy((spent: number) => isSettled(spent, held))
  }, 300_000)

  test('a restart keeps keys and settings, and does not offer set-up again', async () => {
    const code = await program.stop()
    expect(code).toBe(0)
    await start()
    expect(program.output()).not.toContain('setup_token')
    const response = await fetch(`${program.controlUrl}/v1/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        setup_token: program.setupToken,
        email: 'late@example.com',
        password: 'a long enough password',
        organization: { name: 'Late' },
      }),
    })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'setup_closed' } })
  }, 300_000)
})
