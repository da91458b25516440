import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/request-record.ts'
import { insertRecords } from '../../testing/insert-records.ts'
import { type ControlPlane, type List, openControlPlane, type Tenant } from '../../testing/control-plane.ts'
import { requestRecord } from '../../testing/request-record.ts'
import type { z } from '../zod.ts'
import type { LogResource } from './log-resource.ts'

type LogRecord = z.output<typeof LogResource>

let plane: ControlPlane
let tenant: Tenant
let path: string
const at = Date.now() - 60_000
const records: RequestRecord[] = []
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
  path = `/v1/environments/${tenant.development.id}/logs`
  const changes: Partial<RequestRecord>[] = [
    {},
    { status: 429, error_code: 'rate_limit_exceeded', provider: null, model: null, cost_nano_usd: null },
    { provider: 'openai', model: 'gpt-x', model_requested: 'fast', key_id: plane.newId(), sandbox: false },
    { metadata: { tag: 'a' }, finish_reason: null, first_byte_ms: null },
  ]
  for (const [index, change] of changes.entries()) {
    records.push(requestRecord(tenant.development, plane.newId(), at + index * 1000, change))
  }
  const elsewhere = requestRecord(tenant.production, plane.newId(), at)
  await insertRecords(plane.database.pool, [...records, elsewhere])
})
afterAll(() => plane.close())

const list = (query: string) =>
  plane.call<List<LogRecord>>('GET', `${path}?${query}`, { key: tenant.keys.viewer })

/** Which of the records were listed, by their place in `records`. */
async function listed(query: string): Promise<number[]> {
  const { json } = await list(query)
  return json.data.map(({ id }) => records.findIndex(record => record.id === id))
}

describe('list', () => {
  test('newest first, of this environment only, without bodies', async () => {
    expect(await listed('')).toEqual([3, 2, 1, 0])
    const { json, text } = await list('')
    expect(text).not.toContain('secret')
    const [record] = records
    expect(json.data[3]).toEqual({
      id: record?.id,
      request_id: record?.request_id,
      created_at: new Date(at).toISOString(),
      project_id: tenant.project.id,
      environment_id: tenant.development.id,
      key_id: null,
      end_user_id: null,
      endpoint: 'chat',
      surface: 'native',
      model_requested: 'sandbox/echo',
      provider: 'sandbox',
      model: 'echo',
      stream: false,
      status: 200,
      error_code: null,
      finish_reason: 'stop',
      queue_ms: 1,
      first_byte_ms: 2,
      total_ms: 3,
      usage: {
        input_tokens: 16,
        output_tokens: 10,
        total_tokens: 26,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        output_tokens_details: { reasoning_tokens: 3 },
      },
      usage_estimated: false,
      cost_usd: 0.001234567,
      sandbox: true,
      attempts: [{ target: 'sandbox/echo', credential_id: record?.id, status: 200, error: null, ms: 2 }],
      metadata: null,
    })
    expect(json.data[2]?.cost_usd).toBeNull()
  })

  test.each([
    ['status=429', [1]],
    ['status=200', [3, 2, 0]],
    ['error_code=rate_limit_exceeded', [1]],
    ['provider=openai', [2]],
    ['model=fast', [2]],
    ['model=gpt-x', [2]],
    ['model=openai/gpt-x', [2]],
    ['model=nothing', []],
    [`from=${new Date(at + 1000).toISOString()}`, [3, 2, 1]],
    [`to=${new Date(at + 1000).toISOString()}`, [0]],
    ['status=200&model=sandbox/echo&limit=1', [3]],
  ])('by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected)
  })

  test('by key', async () => {
    expect(await listed(`key_id=${records[2]?.key_id}`)).toEqual([2])
  })

  test('a cursor goes on under its own filter and under no other', async () => {
    const first = await list('status=200&limit=2')
    const cursor = first.json.next_cursor
    expect(await listed(`status=200&limit=1&cursor=${cursor}`)).toEqual([0])
    expect((await list(`limit=2&cursor=${cursor}`)).outcome).toBe('400 invalid_request cursor')
    expect((await list(`status=429&cursor=${cursor}`)).outcome).toBe('400 invalid_request cursor')
  })

  test.each([
    ['status=abc', 'request_validation_failed status'],
    ['status=99', 'request_validation_failed status'],
    ['key_id=x', 'request_validation_failed key_id'],
    ['from=yesterday', 'request_validation_failed from'],
    ['provider=%00', 'request_validation_failed provider'],
    ['model=', 'request_validation_failed model'],
    ['metadata=x', 'invalid_request metadata'],
  ])('400 %s', async (query, outcome) => {
    expect((await list(query)).outcome).toBe(`400 ${outcome}`)
  })
})

describe('one', () => {
  const get = (id: string, key: string) =>
    plane.call<LogRecord & { request_body: string | null; response_body: string | null }>(
      'GET',
      `/v1/logs/${id}`,
      { key },
    )

  test('shows bodies to developers and up, and to viewers none', async () => {
    const id = records[0]?.request_id ?? ''
    for (const role of ['developer', 'admin'] as const) {
      expect((await get(id, tenant.keys[role])).json).toMatchObject({
        request_id: id,
        request_body: '{"secret":"prompt"}',
        response_body: '{"secret":"answer"}',
      })
    }
    const viewed = await get(id, tenant.keys.viewer)
    expect(viewed.json).toMatchObject({ request_id: id, request_body: null, response_body: null })
    expect(viewed.text).not.toContain('secret')
  })

  test('is found by its own tenant where another used the same request id', async () => {
    const other = await plane.insertTenant('other')
    const shared = plane.newId()
    const ours = requestRecord(tenant.development, plane.newId(), at, { request_id: shared })
    const theirs = requestRecord(other.development, plane.newId(), at + 5000, { request_id: shared })
    await insertRecords(plane.database.pool, [ours, theirs])
    expect((await get(shared, tenant.keys.viewer)).json.id).toBe(ours.id)
    expect((await get(shared, other.keys.viewer)).json.id).toBe(theirs.id)
  })
})
