import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

let home: ProgramHome
let program: Program
let signedIn: Awaited<ReturnType<typeof setUp>>

beforeAll(async () => {
  home = await openProgramHome()
})

afterAll(async () => {
  await program?.stop()
  home.remove()
})

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

async function listAllLogs(managementKey: string, environmentId: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(
      `${program.controlUrl}/v1/environments/${environmentId}/logs?limit=100${query}`,
      {
        headers: { authorization: `Bearer ${managementKey}` },
      },
    )
    const page = (await response.json()) as { data: { request_id: string }[]; next_cursor: string | null }
    for (const { request_id } of page.data) counts.set(request_id, (counts.get(request_id) ?? 0) + 1)
    cursor = page.next_cursor
  }
  return counts
}

test('kill -9 under load keeps the record of every answered request, each counted once', async () => {
  program = await home.start()
  signedIn = await setUp(program)
  const { managementKey, secretKey, developmentId } = signedIn
  const all: string[] = []
  for (let round = 0; round < 3; round++) {
    const running = await load(program.gatewayUrl, secretKey, 8)
    await expect.poll(() => running.answered.length, { timeout: 120_000 }).toBeGreaterThan(150)
    await program.kill()
    await running.ended
    all.push(...running.answered)
    program = await home.start()
  }
  await expect
    .poll(
      async () => {
        const logged = await listAllLogs(managementKey, developmentId)
        return all.filter(id => !logged.has(id)).length
      },
      { timeout: 120_000, interval: 250 },
    )
    .toBe(0)
  const logged = await listAllLogs(managementKey, developmentId)
  expect([...logged.values()].filter(count => count !== 1)).toEqual([])
}, 600_000)

test('requests that a kill -9 cuts off are settled once, at their reservation, which is then returned', async () => {
  const { managementKey, secretKey, projectId, developmentId } = signedIn
  const manage = async (method: string, route: string, body?: unknown): Promise<any> => {
    const response = await fetch(program.controlUrl + route, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return await response.json()
  }
  const route = `/v1/projects/${projectId}/budgets`
  await manage('POST', route, { limit_usd: 100, window: 'month' })
  const budget = async (): Promise<{ spent_usd: number; reserved_usd: number }> =>
    (await manage('GET', route)).data[0]
  const before = await budget()
  const calls = Array.from({ length: 3 }, () =>
    fetch(`${program.gatewayUrl}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/slow',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'x' }],
      }),
    }).catch(() => {}),
  )
  await expect.poll(async () => (await budget()).reserved_usd, { timeout: 30_000 }).toBeGreaterThan(0)
  const log = async (): Promise<any[]> =>
    (await manage('GET', `/v1/environments/${developmentId}/logs?model=sandbox/slow`)).data
  const held = (await budget()).reserved_usd
  await program.kill()
  await Promise.all(calls)
  program = await home.start()
  await expect.poll(async () => (await log()).length, { timeout: 60_000 }).toBeGreaterThan(0)
  const cut = await log()
  for (const each of cut)
    expect(each).toMatchObject({ usage_estimated: true, error_code: 'stream_interrupted' })
  const spent = cut.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  expect(spent).toBeGreaterThanOrEqual(held - 1e-9)
  const after = await budget()
  expect(after.reserved_usd).toBe(0)
  expect(after.spent_usd).toBeCloseTo(before.spent_usd + spent, 9)
}, 300_000)

test('a restart keeps keys and settings, and does not offer set-up again', async () => {
  const code = await program.stop()
  expect(code).toBe(0)
  program = await home.start()
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
