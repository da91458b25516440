import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { z } from '../operation/zod.ts'
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
    { endpoint: 'embeddings' },
    {
      stream: true,
      status: 429,
      error_code: 'rate_limit_exceeded',
      provider: null,
      model: null,
      cost_nano_usd: null,
    },
    {
      provider: 'openai',
      model: 'openai/gpt-x',
      model_requested: 'fast',
      key_id: plane.newId(),
      sandbox: false,
    },
    {
      metadata: { tag: 'a', 'team.x': 'b c' },
      finish_reason: null,
      first_byte_ms: null,
      end_user_id: 'ann',
      total_ms: 90_000,
      cost_nano_usd: 0,
    },
  ]
  for (const [index, change] of changes.entries()) {
    records.push(requestRecord(tenant.development, plane.newId(), at + index * 1000, change))
  }
  const elsewhere = requestRecord(tenant.production, plane.newId(), at)
  // One after the other, which is the order of a live tail.
  for (const record of [...records, elsewhere]) await insertRecords(plane.database.pool, [record])
})
afterAll(() => plane.close())

const list = (query: string) =>
  plane.call<List<LogRecord>>('GET', `${path}?${query}`, { key: tenant.keys.viewer })

/** Returns the listed records as indexes into `records`. */
async function listed(query: string): Promise<number[]> {
  const { json } = await list(query)
  return json.data.map(({ id }) => records.findIndex(record => record.id === id))
}

describe('list', () => {
  test("lists this environment's requests newest first, without bodies", async () => {
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
      endpoint: 'embeddings',
      surface: 'native',
      model_requested: 'sandbox/echo',
      provider: 'sandbox',
      model: 'sandbox/echo',
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
      hold: null,
      settlement: null,
      feedback: null,
      output_cap: null,
      provider_message: null,
      user: null,
      sandbox: true,
      attempts: [
        {
          target: 'sandbox/echo',
          credential_id: record?.id,
          status: 200,
          error: null,
          start_ms: null,
          ms: 2,
          lost_cost_usd: null,
        },
      ],
      metadata: null,
    })
    expect(json.data[2]?.cost_usd).toBeNull()
  })

  test.each([
    ['status=429', [1]],
    ['status=200', [3, 2, 0]],
    ['status=4xx', [1]],
    ['status=2xx', [3, 2, 0]],
    ['status=5xx', []],
    ['error_code=rate_limit_exceeded', [1]],
    ['provider=openai', [2]],
    ['model=fast', [2]],
    ['model=gpt-x', [2]],
    ['model=openai/gpt-x', [2]],
    ['model=nothing', []],
    ['end_user_id=ann', [3]],
    // Spaces are part of an end user's id, so this is another one.
    ['end_user_id=%20ann%20', []],
    ['metadata.tag=a', [3]],
    ['metadata.tag=a&metadata.team.x=b%20c', [3]],
    ['metadata.tag=a&metadata.team.x=b', []],
    ['metadata.tag=', []],
    ['min_latency_ms=3', [3, 2, 1, 0]],
    ['min_latency_ms=3.001', [3]],
    ['min_cost_usd=0.001234567', [2, 0]],
    ['min_cost_usd=0.001234568', []],
    ['min_cost_usd=0', [3, 2, 0]],
    ['min_cost_usd=4e-7', [2, 0]],
    [`min_cost_usd=${0.1 + 0.2}`, []],
    [`from=${new Date(at + 1000).toISOString()}`, [3, 2, 1]],
    [`to=${new Date(at + 1000).toISOString()}`, [0]],
    ['status=200&model=sandbox/echo&limit=1', [3]],
    ['status=429&status=5xx', [1]],
    ['status=2xx&status=429', [3, 2, 1, 0]],
    ['model=fast&model=nothing', [2]],
    ['not.status=4xx', [3, 2, 0]],
    ['not.status=429&not.status=200', []],
    ['not.model=fast', [3, 1, 0]],
    // A request without a provider differs from every one.
    ['not.provider=openai', [3, 1, 0]],
    ['not.provider=openai&not.provider=sandbox', [1]],
    ['not.end_user_id=ann&status=200', [2, 0]],
    ['endpoint=chat', [3, 2, 1]],
    ['endpoint=embeddings', [0]],
    ['endpoint=embeddings&endpoint=chat', [3, 2, 1, 0]],
    ['not.endpoint=chat', [0]],
    ['stream=true', [1]],
    ['stream=false', [3, 2, 0]],
    ['sandbox=false', [2]],
    ['sandbox=true&stream=false', [3, 0]],
  ])('by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected)
  })

  test('filters by key', async () => {
    expect(await listed(`key_id=${records[2]?.key_id}`)).toEqual([2])
    expect(await listed(`not.key_id=${records[2]?.key_id}`)).toEqual([3, 1, 0])
  })

  test('filters by the beginning of a request id', async () => {
    const id = records[1]?.request_id ?? ''
    expect(await listed(`request_id=${id}`)).toEqual([1])
    expect(await listed(`request_id=${id.slice(0, 30).toUpperCase()}`)).toContain(1)
    expect(await listed(`request_id=${id.slice(0, 8)}`)).toContain(1)
    expect(await listed('request_id=00000000-0000')).toEqual([])
  })

  test('filters by the name of a key in every version of it, and of no other environment', async () => {
    const other = await plane.insertTenant('named')
    const path = `/v1/environments/${other.development.id}`
    const make = async (environment: string, name: string) =>
      (
        await plane.call<{ id: string }>('POST', `/v1/environments/${environment}/keys`, {
          key: other.keys.admin,
          body: { kind: 'secret', name },
        })
      ).json.id
    const first = await make(other.development.id, 'web')
    const second = await make(other.development.id, 'web')
    const third = await make(other.development.id, 'batch')
    const elsewhere = await make(other.production.id, 'jobs')
    const made = [first, second, third, elsewhere, null].map((key_id, index) =>
      requestRecord(other.development, plane.newId(), at + index, { key_id }),
    )
    await insertRecords(plane.database.pool, made)
    const found = async (query: string) => {
      const { json } = await plane.call<List<LogRecord>>('GET', `${path}/logs?${query}`, {
        key: other.keys.viewer,
      })
      return json.data.map(({ id }) => made.findIndex(record => record.id === id))
    }
    expect(await found('key_name=web')).toEqual([1, 0])
    expect(await found('key_name=web&key_name=batch')).toEqual([2, 1, 0])
    expect(await found(`key_name=web&key_id=${second}`)).toEqual([1])
    expect(await found('key_name=jobs')).toEqual([])
    expect(await found('not.key_name=web')).toEqual([4, 3, 2])
    expect(await found('not.key_name=unknown')).toEqual([4, 3, 2, 1, 0])
    expect(await found(`not.key_name=web&not.key_id=${third}`)).toEqual([4, 3])
  })

  test('refuses a name that more than 1,000 keys have', async () => {
    const other = await plane.insertTenant('many-keys')
    const { id, org_id, project_id } = other.development
    await plane.database.pool.query(
      `insert into keys (id, original_id, org_id, project_id, environment_id, kind, name, hash, prefix_display, scopes, created_at, updated_at)
        select id, id, $2, $3, $4, 'secret', 'web', sha256(id::text::bytea), 'rd', '{ai.chat}', now(), now()
        from unnest($1::uuid[]) id`,
      [Array.from({ length: 1_001 }, () => plane.newId()), org_id, project_id, id],
    )
    for (const param of ['key_name', 'not.key_name']) {
      const { outcome, json } = await plane.call<any>('GET', `/v1/environments/${id}/logs?${param}=web`, {
        key: other.keys.viewer,
      })
      expect(outcome).toBe(`400 request_validation_failed ${param}`)
      expect(json.error.message).toContain(`use "${param.replace('name', 'id')}"`)
    }
  })

  test('a cursor continues under its own filter only', async () => {
    const first = await list('status=200&limit=2')
    const cursor = first.json.next_cursor
    expect(await listed(`status=200&limit=1&cursor=${cursor}`)).toEqual([0])
    expect((await list(`limit=2&cursor=${cursor}`)).outcome).toBe('400 invalid_request cursor')
    expect((await list(`status=429&cursor=${cursor}`)).outcome).toBe('400 invalid_request cursor')
  })

  test.each([
    ['status=abc', 'request_validation_failed status'],
    ['status=99', 'request_validation_failed status'],
    ['status=6xx', 'request_validation_failed status'],
    ['key_id=x', 'request_validation_failed key_id'],
    ['from=yesterday', 'request_validation_failed from'],
    ['provider=%00', 'request_validation_failed provider'],
    ['model=', 'request_validation_failed model'],
    ['metadata=x', 'request_validation_failed metadata'],
    ['metadata.=x', 'request_validation_failed metadata.'],
    ['metadata.k=%00', 'request_validation_failed metadata.k'],
    ['metadata.k=a&metadata.k=b', 'request_validation_failed metadata.k'],
    ['end_user_id=', 'request_validation_failed end_user_id'],
    ['min_cost_usd=-1', 'request_validation_failed min_cost_usd'],
    ['min_latency_ms=1e3', 'request_validation_failed min_latency_ms'],
    ['min_cost_usd=4e-', 'request_validation_failed min_cost_usd'],
    ['after=x', 'request_validation_failed after'],
    ['after=00000000-0000-0000-0000-000000000000', 'invalid_request after'],
    ['colour=red', 'request_validation_failed colour'],
    ['status=429&status=abc', 'request_validation_failed status'],
    ['not.status=abc', 'request_validation_failed not.status'],
    ['not.stream=true', 'request_validation_failed not.stream'],
    ['endpoint=models', 'request_validation_failed endpoint'],
    ['stream=1', 'request_validation_failed stream'],
    ['stream=true&stream=false', 'request_validation_failed stream'],
    ['sandbox=', 'request_validation_failed sandbox'],
    ['request_id=0192', 'request_validation_failed request_id'],
    ['request_id=01927abc7', 'request_validation_failed request_id'],
    ['key_name=', 'request_validation_failed key_name'],
    [`${'provider=a&'.repeat(21)}`, 'request_validation_failed provider'],
  ])('400 %s', async (query, outcome) => {
    expect((await list(query)).outcome).toBe(`400 ${outcome}`)
  })
})

describe('list with after, a live tail', () => {
  const requestId = (index: number) => records[index]?.request_id

  test('returns the requests that were stored later, in that order, including those that ended before', async () => {
    expect(await listed(`after=${requestId(0)}`)).toEqual([1, 2, 3])
    expect(await listed(`after=${requestId(2)}`)).toEqual([3])
    expect(await listed(`after=${requestId(3)}`)).toEqual([])
    const late = requestRecord(tenant.development, plane.newId(), at - 86_400_000)
    await insertRecords(plane.database.pool, [late])
    const { json } = await list(`after=${requestId(3)}`)
    expect(json.data.map(({ id }) => id)).toEqual([late.id])
    await plane.database.pool.query('delete from request_logs where id = $1', [late.id])
  })

  test('applies paging and filters', async () => {
    const { json } = await list(`after=${requestId(0)}&limit=2`)
    expect(json.has_more).toBe(true)
    expect(await listed(`after=${requestId(0)}&limit=2&cursor=${json.next_cursor}`)).toEqual([3])
    expect(await listed(`after=${requestId(0)}&status=200`)).toEqual([2, 3])
    expect((await list(`limit=2&cursor=${json.next_cursor}`)).outcome).toBe('400 invalid_request cursor')
  })

  test('rejects a request of another environment as the start with 400 invalid_request after', async () => {
    const elsewhere = requestRecord(tenant.production, plane.newId(), at)
    await insertRecords(plane.database.pool, [elsewhere])
    expect((await list(`after=${elsewhere.request_id}`)).outcome).toBe('400 invalid_request after')
  })
})

test('a cursor survives inserts and deletions: every record is listed exactly once', async () => {
  const other = await plane.insertTenant('moving')
  const path = `/v1/environments/${other.development.id}/logs?limit=2`
  const insert = async (seconds: number): Promise<string> => {
    const record = requestRecord(other.development, plane.newId(), at + seconds * 1000)
    await insertRecords(plane.database.pool, [record])
    return record.id
  }
  const ids = [await insert(0), await insert(1), await insert(2), await insert(3), await insert(4)]
  const call = (cursor: string | null) =>
    plane.call<List<LogRecord>>('GET', cursor === null ? path : `${path}&cursor=${cursor}`, {
      key: other.keys.viewer,
    })
  const first = await call(null)
  await insert(5)
  // The record at the cursor's position.
  await plane.database.pool.query('delete from request_logs where id = $1', [ids[3]])
  const second = await call(first.json.next_cursor)
  const seen = [...first.json.data, ...second.json.data].map(({ id }) => id)
  expect(seen).toEqual([ids[4], ids[3], ids[2], ids[1]])
  const cursor = first.json.next_cursor ?? ''
  const last = cursor.endsWith('A') ? 'B' : 'A'
  expect((await call(cursor.slice(0, -1) + last)).outcome).toBe('400 invalid_request cursor')
})

test('a page of records of the maximum size is bounded, even with larger records of an earlier version', async () => {
  const other = await plane.insertTenant('large')
  const record = requestRecord(other.development, plane.newId(), at)
  const attempt = { ...record.attempts[0], model: '€'.repeat(512) } as RequestRecord['attempts'][number]
  const large: Partial<RequestRecord> = {
    model_requested: '€'.repeat(512),
    end_user_id: '€'.repeat(255),
    metadata: Object.fromEntries(
      Array.from({ length: 16 }, (_, n) => [`${n}`.padEnd(64, '€'), '€'.repeat(512)]),
    ),
    attempts: [attempt, attempt, attempt, attempt],
    request_body: 'x'.repeat(100_000),
    response_body: 'x'.repeat(100_000),
  }
  const all = Array.from({ length: 100 }, (_, n) =>
    requestRecord(other.development, plane.newId(), at + n, large),
  )
  await insertRecords(plane.database.pool, all)
  await plane.database.pool.query('update request_logs set metadata = $1 where id = any ($2)', [
    { k: 'a'.repeat(3_000_000) },
    all.slice(0, 50).map(({ id }) => id),
  ])
  const path = `/v1/environments/${other.development.id}/logs?limit=100`
  const { json, text } = await plane.call<List<LogRecord>>('GET', path, { key: other.keys.viewer })
  expect(json.data).toHaveLength(100)
  expect(json.data[0]?.metadata).toEqual(large.metadata)
  expect(json.data[99]?.metadata).toBeNull()
  expect(Buffer.byteLength(text)).toBeLessThan(100 * 65_536)
})
