import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manage, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

let home: ProgramHome
let program: Program

beforeAll(async () => {
  home = await openProgramHome()
})

afterAll(async () => {
  await program?.stop()
  home.remove()
})

const COST_NANO_USD = 250_000_000

/** Too long for any index, even compressed. */
function longName(): string {
  return randomBytes(5000).toString('base64')
}

/** A segment like one of a killed process. */
function leaveSegment(records: readonly object[]): void {
  const folder = path.join(home.dataDir, 'journal')
  mkdirSync(folder, { recursive: true })
  const lines = records.map(record => {
    const json = JSON.stringify(record)
    return `${crc32(json).toString(16).padStart(8, '0')}${json}\n`
  })
  writeFileSync(path.join(folder, 'j-0000000001.log'), lines.join(''))
}

test('records in an earlier version’s journal are stored or set aside, count as spent, and delay no other record', async () => {
  program = await home.start()
  const { managementKey, secretKey, projectId, developmentId } = await setUp(program)
  const control = (method: string, route: string, body?: unknown): Promise<any> =>
    manage({ controlUrl: program.controlUrl, managementKey }, method, route, body)
  const ask = () =>
    fetch(`${program.gatewayUrl}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hello' }] }),
    })
  const spentUsd = async (): Promise<number> =>
    (await control('GET', `/v1/projects/${projectId}/budgets`)).data[0].spent_usd
  await control('POST', `/v1/projects/${projectId}/budgets`, { limit_usd: 100, window: 'month' })
  expect((await ask()).status).toBe(200)
  await expect
    .poll(async () => (await control('GET', `/v1/environments/${developmentId}/logs`)).data.length)
    .toBe(1)
  const [log] = (await control('GET', `/v1/environments/${developmentId}/logs`)).data
  const { org_id: orgId } = await control('GET', `/v1/projects/${projectId}`)
  const before = await spentUsd()
  await program.stop()

  const toRecord = (change: object): Record<string, unknown> => ({
    id: randomUUID(),
    at: log.created_at,
    request_id: randomUUID(),
    org_id: orgId,
    project_id: projectId,
    environment_id: developmentId,
    key_id: log.key_id,
    end_user_id: null,
    endpoint: 'chat',
    surface: 'native',
    model_requested: 'custom/m',
    provider: 'custom',
    model: 'custom/m',
    stream: false,
    status: 200,
    error_code: null,
    finish_reason: 'stop',
    queue_ms: 1,
    first_byte_ms: 1,
    total_ms: 2,
    uncached_input_tokens: 10,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 5,
    reasoning_tokens: 0,
    usage_estimated: false,
    cost_nano_usd: COST_NANO_USD,
    hold_tokens: null,
    hold_nano_usd: null,
    output_cap: null,
    sandbox: false,
    attempts: [],
    metadata: null,
    request_body: null,
    response_body: null,
    ...change,
  })
  const stored = [
    toRecord({ end_user_id: longName() }),
    toRecord({ model: `custom/${longName()}`, model_requested: `custom/${longName()}` }),
    toRecord({ end_user_id: 'a\0\ud800', model: '\udc00' }),
    toRecord({ metadata: { k: 'a'.repeat(32_000_000) } }),
    toRecord({}),
  ]
  const refused = toRecord({ output_tokens: 3_000_000_000 })
  leaveSegment([...stored.slice(0, 2), refused, ...stored.slice(2)])

  program = await home.start()
  const answer = await ask()
  expect(answer.status).toBe(200)
  const { id, cost_usd } = (await answer.json()) as { id: string; cost_usd: number }
  const spent = before + cost_usd + (stored.length * COST_NANO_USD) / 1e9
  await expect.poll(spentUsd, { timeout: 60_000 }).toBeCloseTo(spent, 9)
  for (const { request_id, cost_nano_usd } of stored) {
    const found = await control('GET', `/v1/logs/${request_id}`)
    expect(found).toMatchObject({ request_id, cost_usd: (cost_nano_usd as number) / 1e9 })
    expect(JSON.stringify(found).length).toBeLessThan(70_000)
  }
  await expect.poll(async () => (await control('GET', `/v1/logs/${id}`)).request_id).toBe(id)
  const aside = path.join(home.dataDir, 'refused-records.jsonl')
  const entry = JSON.parse(readFileSync(aside, 'utf8'))
  expect(entry).toMatchObject({ reason: expect.stringContaining('22003'), record: refused })
  expect(program.output()).toContain('set aside in a file')
  // The segment is deleted: no record is stored or set aside again.
  await program.stop()
  expect(readdirSync(path.join(home.dataDir, 'journal'))).toEqual([])
  program = await home.start()
  expect(await spentUsd()).toBeCloseTo(spent, 9)
  expect(readFileSync(aside, 'utf8').trimEnd().split('\n')).toHaveLength(1)
  expect(existsSync(path.join(home.dataDir, 'refused-records.1.jsonl'))).toBe(false)
}, 300_000)
