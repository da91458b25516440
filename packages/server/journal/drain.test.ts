import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { RecordLine, RequestRecord } from '../core/request-record.ts'
import { Drain } from './drain.ts'
import { type Journal, listSegments, openJournal } from './journal.ts'

const silent = { error: () => {}, warn: () => {} }
/** Longer than any test: what moves is moved by flush. */
const NEVER_MS = 1_000_000_000

function record(id: string): RequestRecord {
  return { id } as RequestRecord
}

/** A database that keeps what it is given once, and can be out of order. */
function openTable() {
  const rows = new Map<string, RecordLine>()
  let broken = false
  return {
    rows,
    break: () => {
      broken = true
    },
    mend: () => {
      broken = false
    },
    async insert(records: readonly RecordLine[]) {
      if (broken) throw new Error('the database is away')
      for (const each of records) rows.set(each.id, each)
    },
  }
}

function open(
  folder: string,
  table: ReturnType<typeof openTable>,
  maxQueued?: number,
): { drain: Drain; journal: Journal } {
  const journal = openJournal(folder, { onError: () => {} })
  const drain = new Drain({
    folder,
    journal,
    insert: table.insert,
    log: silent,
    flushEveryMs: NEVER_MS,
    batchSize: 3,
    ...(maxQueued === undefined ? {} : { maxQueued }),
  })
  return { drain, journal }
}

function folderOf(): string {
  return mkdtempSync(path.join(tmpdir(), 'rideau-drain-'))
}

test('every record arrives, in batches', async () => {
  const table = openTable()
  const { drain } = open(folderOf(), table)
  for (let i = 0; i < 10; i++) drain.write(record(`r${i}`))
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(Array.from({ length: 10 }, (_, i) => `r${i}`))
  expect(drain.backlog()).toBe(0)
})

test('what a killed run left in its journal is brought in by the next', async () => {
  const folder = folderOf()
  const table = openTable()
  const killed = open(folder, table)
  for (let i = 0; i < 5; i++) killed.drain.write(record(`r${i}`))
  // Killed: nothing flushed, nothing closed.
  const next = open(folder, table)
  next.drain.write(record('r5'))
  await next.drain.flush()
  expect([...table.rows.keys()].sort()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5'])
  expect(listSegments(folder)).toHaveLength(1)
})

test('while the database is away records wait, and arrive when it is back', async () => {
  const table = openTable()
  const { drain } = open(folderOf(), table)
  table.break()
  drain.write(record('a'))
  await expect(drain.flush()).rejects.toThrow('the database is away')
  drain.write(record('b'))
  expect(drain.backlog()).toBe(2)
  table.mend()
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b'])
})

test('what does not fit in memory waits in the journal and is not lost', async () => {
  const table = openTable()
  const { drain } = open(folderOf(), table, 2)
  table.break()
  for (let i = 0; i < 9; i++) drain.write(record(`r${i}`))
  expect(drain.backlog()).toBe(2)
  table.mend()
  await drain.flush()
  expect([...table.rows.keys()].sort()).toEqual(Array.from({ length: 9 }, (_, i) => `r${i}`))
})

test('a clean close leaves no segment behind; one that the database refused keeps them', async () => {
  const folder = folderOf()
  const table = openTable()
  const clean = open(folder, table)
  clean.drain.write(record('a'))
  await clean.drain.close()
  expect(listSegments(folder)).toEqual([])

  const refused = open(folder, table)
  table.break()
  refused.drain.write(record('b'))
  await refused.drain.close()
  table.mend()
  const next = open(folder, table)
  await next.drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b'])
})

test('a journal that refuses does not lose the record of an answer', async () => {
  const folder = folderOf()
  const table = openTable()
  const journal = openJournal(folder, { onError: () => {} })
  const full: Journal = {
    ...journal,
    append: () => {
      throw new Error('ENOSPC')
    },
  }
  const drain = new Drain({
    folder,
    journal: full,
    insert: table.insert,
    log: silent,
    flushEveryMs: NEVER_MS,
  })
  drain.write(record('a'))
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a'])
})
