import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RecordLine, RequestRecord } from '../core/records/request-record.ts'
import type { EnvironmentRow } from '../storage/schema.ts'
import { requestRecord } from '../testing/harness/request-record.ts'
import { Drain } from './drain.ts'
import type { DrainOptions } from './drain-options.ts'
import { type Journal, openJournal } from './journal.ts'

const ENVIRONMENT = { id: 'e', org_id: 'o', project_id: 'p' } as EnvironmentRow

/** A database that stores each record once and can be made unavailable. */
function openTable() {
  const rows = new Map<string, RecordLine>()
  let isBroken = false
  return {
    rows,
    break: () => {
      isBroken = true
    },
    restore: () => {
      isBroken = false
    },
    async insert(records: readonly RecordLine[]) {
      if (isBroken) throw new Error('the database is unavailable')
      for (const each of records) rows.set(each.id, each)
    },
  }
}

const folderOf = (): string => mkdtempSync(path.join(tmpdir(), 'rideau-drain-'))

/** Opens a drain that writes only when it is flushed. */
function open(options: Pick<DrainOptions, 'insert'> & Partial<DrainOptions>, change: Partial<Journal> = {}) {
  const folder = options.folder ?? folderOf()
  const journal = { ...openJournal(folder, { onError: () => {} }), ...change }
  const log = { error: () => {}, warn: () => {} }
  const drain = new Drain({ folder, journal, log, flushEveryMs: 1_000_000_000, ...options })
  return { drain, journal }
}

describe('large records', () => {
  const body = 'x'.repeat(20_000)
  // One organization would soon leave no bodies.
  const large = (id: string) => requestRecord(ENVIRONMENT, id, 0, { org_id: id, request_body: body })

  test('are inserted in small batches by their size', async () => {
    const batches: number[] = []
    const insert = async (records: readonly RecordLine[]) => void batches.push(records.length)
    const { drain } = open({ insert, batchChars: 50_000 })
    for (let i = 0; i < 7; i++) await drain.write(large(`r${i}`))
    await drain.flush()
    expect(batches).toEqual([2, 2, 2, 1])
    await drain.close()
  })

  test('wait in the journal when the queue in memory is full', async () => {
    const table = openTable()
    const { drain } = open({ insert: table.insert, maxQueuedChars: 50_000 })
    table.break()
    for (let i = 0; i < 9; i++) await drain.write(large(`r${i}`))
    expect(drain.backlog()).toBe(3)
    table.restore()
    await drain.flush()
    expect([...table.rows.keys()].sort()).toEqual(Array.from({ length: 9 }, (_, i) => `r${i}`))
    await drain.close()
  })

  test('are cut to today’s limit if an earlier version wrote them, and lines that are no record are passed on without an id', async () => {
    const folder = folderOf()
    const journal = openJournal(folder, { onError: () => {} })
    const old = requestRecord(ENVIRONMENT, 'old', 0, { metadata: { k: 'a'.repeat(20_000_000) } })
    journal.append(JSON.stringify(old), '{"no":"record"}', 'no JSON', JSON.stringify(large('other')))
    journal.append(`{"open":${JSON.stringify({ ...old, id: 'cut', cost_nano_usd: 7 })}}`)
    journal.close()
    const table = openTable()
    const refused: string[] = []
    const { drain } = open({
      folder,
      insert: async records => {
        for (const { id, json } of records) if (id === '') refused.push(json)
        await table.insert(records)
      },
    })
    await drain.flush()
    expect([...table.rows.keys()].sort()).toEqual(['', 'cut', 'old', 'other'])
    expect(refused).toEqual(['{"no":"record"}', 'no JSON'])
    for (const id of ['old', 'cut']) expect(table.rows.get(id)?.json.length).toBeLessThan(65_536)
    expect(JSON.parse(table.rows.get('cut')?.json ?? '')).toMatchObject({ cost_nano_usd: 7, metadata: null })
    await drain.close()
  })
})

describe('in a journal that is nearly full', () => {
  const paid = (id: string, change: Partial<RequestRecord> = {}) =>
    requestRecord(ENVIRONMENT, id, 0, { sandbox: false, ...change })
  const refusal = (id: string) =>
    paid(id, {
      status: 404,
      attempts: [],
      cost_nano_usd: 0,
      uncached_input_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
    })
  test('refused requests leave no record and never fill it, and requests that cost something still leave one', async () => {
    const table = openTable()
    const { drain, journal } = open({ insert: table.insert, maxBytes: 40_000 })
    table.break()
    for (let i = 0; i < 500; i++) await drain.write(refusal(`refused${i}`))
    expect(drain.isFull()).toBe(false)
    expect(journal.bytes()).toBeLessThan(32_000)
    const kept = 500 - drain.shed()
    expect(kept).toBeGreaterThan(0)
    await drain.write(paid('paid'))
    table.restore()
    await drain.flush()
    expect(table.rows.size).toBe(kept + 1)
    expect(table.rows.has('paid')).toBe(true)
    await drain.write(refusal('later'))
    await drain.flush()
    expect(table.rows.has('later')).toBe(true)
    await drain.close()
  })

  test('requests that a provider rejects leave no bodies once half of it is used, and no record once three quarters are', async () => {
    const table = openTable()
    const { drain, journal } = open({ insert: table.insert, maxBytes: 100_000 })
    table.break()
    const { attempts } = requestRecord(ENVIRONMENT, 'any', 0)
    const long = { request_body: 'x'.repeat(20_000), metadata: { k: 'v' } }
    const free = (id: string) => ({ ...refusal(id), status: 400, attempts, ...long })
    for (let i = 0; i < 500; i++) await drain.write(free(`free${i}`))
    expect(journal.bytes()).toBeLessThan(80_000)
    const kept = 500 - drain.shed()
    expect(kept).toBeGreaterThan(15)
    await drain.write({ ...free('unpriced'), cost_nano_usd: null })
    table.restore()
    await drain.flush()
    expect(table.rows.size).toBe(kept + 1)
    const bodies = [...table.rows.values()].map(({ json }) => JSON.parse(json).request_body)
    expect(bodies.filter(body => body !== null)).toHaveLength(3)
    await drain.close()
  })

  test('billed requests leave no bodies, so that it has room for many', async () => {
    const table = openTable()
    const { drain } = open({ insert: table.insert, maxBytes: 200_000 })
    table.break()
    for (let i = 0; i < 10; i++) {
      const record = paid(`paid${i}`, { request_body: 'x'.repeat(30_000), metadata: { k: 'v' } })
      drain.open(record)
      await drain.write(record)
    }
    expect(drain.isFull()).toBe(false)
    table.restore()
    await drain.flush()
    expect(table.rows.size).toBe(10)
    expect(JSON.parse(table.rows.get('paid9')?.json ?? '')).toMatchObject({
      request_body: null,
      metadata: { k: 'v' },
      cost_nano_usd: 1_234_567,
    })
    await drain.close()
  })

  test('it is full for an organization that wrote as much as is left, while others still find space', async () => {
    const table = openTable()
    const { drain } = open({ insert: table.insert, maxBytes: 100_000 })
    const write = (orgId: string, id: string) => drain.write(paid(id, { org_id: orgId, request_body: null }))
    table.break()
    for (let i = 0; i < 500 && !drain.isFullFor('one'); i++) await write('one', `one${i}`)
    expect([drain.isFull(), drain.isFullFor('other')]).toEqual([false, false])
    for (let i = 0; i < 500 && !drain.isFullFor('other'); i++) await write('other', `other${i}`)
    expect([drain.isFull(), drain.isFullFor('third')]).toEqual([false, false])
    table.restore()
    await drain.flush()
    await write('one', 'later')
    expect(drain.isFullFor('one')).toBe(false)
    await drain.close()
  })

  test('a request that was opened and then refused leaves a record, so that its open line is not counted', async () => {
    const table = openTable()
    const { drain } = open({ insert: table.insert, maxBytes: 1000 })
    drain.open({ ...refusal('opened'), output_tokens: 100, cost_nano_usd: 7 })
    await drain.write(refusal('opened'))
    await drain.write(refusal('never'))
    await drain.flush()
    expect([...table.rows.keys()]).toEqual(['opened'])
    await drain.close()
  })

  test('refused requests do not wait in memory if the journal cannot be written', async () => {
    const table = openTable()
    const append = () => {
      throw new Error('ENOSPC')
    }
    const { drain } = open({ insert: table.insert }, { append })
    table.break()
    for (let i = 0; i < 10; i++) await drain.write(refusal(`refused${i}`))
    await drain.write(paid('paid'))
    expect([drain.backlog(), drain.shed()]).toEqual([1, 10])
    await drain.close()
  })
})
