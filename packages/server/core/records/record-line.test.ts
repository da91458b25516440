import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isRefusal,
  isUnbilled,
  MAX_RECORD_BYTES,
  MAX_REFUSAL_BYTES,
  parseRecordLine,
  toRecordLine,
  toReducedLine,
} from './record-line.ts'
import type { RequestRecord } from './request-record.ts'

const ID = '018f3b2e-0000-7000-8000-000000000000'

function createRecord(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: ID,
    at: '2026-11-21T10:00:00.123Z',
    request_id: ID,
    org_id: ID,
    project_id: ID,
    environment_id: ID,
    key_id: ID,
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
    cache_read_tokens: 1,
    cache_write_tokens: 2,
    output_tokens: 5,
    reasoning_tokens: 3,
    usage_estimated: false,
    cost_nano_usd: 1234,
    hold_tokens: null,
    hold_nano_usd: null,
    output_cap: null,
    provider_message: null,
    user: null,
    sandbox: false,
    attempts: [{ provider: 'custom', model: 'm', credential_id: ID, status: 200, error: null, ms: 1.5 }],
    metadata: null,
    request_body: null,
    response_body: null,
    ...change,
  }
}

const REFUSED: Partial<RequestRecord> = {
  status: 404,
  attempts: [],
  cost_nano_usd: 0,
  uncached_input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
}

/** The fields that are billed never change. */
const COUNTED = [
  'id',
  'at',
  'request_id',
  'org_id',
  'project_id',
  'environment_id',
  'key_id',
  'status',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'usage_estimated',
  'cost_nano_usd',
  'sandbox',
] as const

function expectSame(json: string, record: RequestRecord): void {
  const kept = JSON.parse(json) as RequestRecord
  for (const name of COUNTED) expect(kept[name]).toEqual(record[name])
}

const bytesOf = (json: string): number => Buffer.byteLength(json)

test('writes a record within the limits as its plain JSON', () => {
  const record = createRecord({ metadata: { a: 'b' }, request_body: '{"a":"🔑"}' })
  expect(toRecordLine(record)).toEqual({ id: ID, at: record.at, json: JSON.stringify(record) })
})

test('gives each body half of the space, or the rest if the other needs less', () => {
  const quotes = '"'.repeat(100_000)
  const both = JSON.parse(toRecordLine(createRecord({ request_body: quotes, response_body: quotes })).json)
  expect(both.request_body).toMatch(/^"{15000,}…\[cut: 100000 characters\]$/)
  expect(both.response_body.length).toBeGreaterThan(15_000)
  const one = JSON.parse(toRecordLine(createRecord({ request_body: quotes, response_body: 'short' })).json)
  expect(one.response_body).toBe('short')
  expect(one.request_body.length).toBeGreaterThan(30_000)
})

test('limits the record of a refused request to 8 KiB', () => {
  const record = createRecord({
    ...REFUSED,
    request_body: '€'.repeat(1_000_000),
    metadata: { k: 'a'.repeat(1_000_000) },
  })
  expect(isRefusal(record)).toBe(true)
  const { json } = toRecordLine(record)
  expect(bytesOf(json)).toBeLessThanOrEqual(MAX_REFUSAL_BYTES)
  expect(JSON.parse(json)).toMatchObject({
    metadata: null,
    request_body: expect.stringMatching(/^€+…\[cut: 1000000 characters\]$/),
  })
})

test.each([
  ['was answered', { status: 200 }],
  ['reached a provider', { attempts: createRecord().attempts }],
  ['cost something', { cost_nano_usd: 1 }],
  ['used tokens', { output_tokens: 1 }],
])('a request that %s is not a refused one', (_, change) => {
  expect(isRefusal(createRecord({ ...REFUSED, ...change }))).toBe(false)
})

test.each([
  ['was refused', {}, true],
  ['was refused before its cost was known', { cost_nano_usd: null }, true],
  ['a provider rejected', { attempts: createRecord().attempts }, true],
  ['was answered for nothing', { status: 200, attempts: createRecord().attempts }, false],
  [
    'was answered at an unknown cost',
    { status: 200, attempts: createRecord().attempts, cost_nano_usd: null },
    false,
  ],
  ['was answered by the sandbox', { status: 200, sandbox: true, output_tokens: 1, cost_nano_usd: 2 }, false],
  ['cost something', { cost_nano_usd: 1 }, false],
  ['used tokens', { uncached_input_tokens: 1 }, false],
])('a request that %s is unbilled: %s', (_, change, expected) => {
  expect(isUnbilled(createRecord({ ...REFUSED, ...change }))).toBe(expected)
})

test('keeps names that are too long different from each other', () => {
  const [one, other] = ['a', 'b'].map(
    end => JSON.parse(toRecordLine(createRecord({ end_user_id: 'u'.repeat(4096) + end })).json).end_user_id,
  )
  expect(one.length).toBeLessThanOrEqual(255)
  expect(one).not.toBe(other)
})

describe('a record with any content', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc
      .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), fc.nat(20_000))
      .map(([unit, times]) => unit.repeat(times)),
  )
  const attempt = fc.record({
    provider: text,
    model: text,
    credential_id: text,
    status: fc.constant(500),
    error: fc.option(text),
    ms: fc.constant(1),
  })
  const change = fc.record(
    {
      end_user_id: text,
      model_requested: text,
      model: text,
      provider: text,
      endpoint: text,
      surface: text,
      finish_reason: text,
      error_code: text,
      metadata: fc.dictionary(text, text, { maxKeys: 20 }),
      request_body: text,
      response_body: text,
      attempts: fc.array(attempt, { maxLength: 20 }),
    },
    { requiredKeys: [] },
  )
  const record = fc
    .tuple(change, fc.boolean())
    .map(([changed, isRefused]) =>
      createRecord(isRefused ? { ...changed, ...REFUSED } : (changed as Partial<RequestRecord>)),
    )

  test('becomes a line of limited size that keeps the billed fields and is parsed to the same line', () => {
    fc.assert(
      fc.property(record, each => {
        const line = toRecordLine(each)
        expect(bytesOf(line.json)).toBeLessThanOrEqual(isRefusal(each) ? MAX_REFUSAL_BYTES : MAX_RECORD_BYTES)
        expectSame(line.json, each)
        expect(parseRecordLine(line.json)).toEqual(line)
      }),
      { numRuns: 120 },
    )
  })

  test('has a reduced form that is short, of plain text, and keeps the billed fields', () => {
    fc.assert(
      fc.property(record, each => {
        const json = JSON.stringify(each)
        const reduced = toReducedLine({ id: each.id, at: each.at, json })
        expect(bytesOf(reduced?.json ?? '')).toBeLessThan(4096)
        expect(reduced?.json).not.toMatch(/\\u/)
        expectSame(reduced?.json ?? '', each)
      }),
      { numRuns: 120 },
    )
  })
})

describe('a parsed line', () => {
  test('over the limit is cut to it', () => {
    const old = createRecord({ metadata: { k: 'a'.repeat(1_000_000) } })
    const line = parseRecordLine(JSON.stringify(old))
    expect(bytesOf(line.json)).toBeLessThanOrEqual(MAX_RECORD_BYTES)
    expectSame(line.json, old)
  })

  test.each(['', 'null', '5', '[]', '{', '{"id":5}', `{"id":"a","at":5,"x":"${'x'.repeat(100_000)}"}`])(
    'has no id and no reduced form if it is not a record: %s',
    json => {
      const line = parseRecordLine(json)
      expect(line).toMatchObject({ id: '', at: '' })
      expect(line.json.length).toBeLessThan(MAX_RECORD_BYTES)
      expect(toReducedLine({ id: 'x', at: 'y', json })).toBeUndefined()
    },
  )
})
