import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RecordLine, RequestRecord } from '../core/request-record.ts'
import { Drain } from './drain.ts'
import { type Journal, listSegments, openJournal, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'

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
  onReplayed?: (records: readonly RecordLine[]) => Promise<void>,
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
    ...(onReplayed === undefined ? {} : { onReplayed }),
  })
  return { drain, journal }
}

function folderOf(): string {
  return mkdtempSync(path.join(tmpdir(), 'rideau-drain-'))
}

test('every record arrives, in batches', async () => {
  const table = openTable()
  const { drain } = open(folderOf(), table)
  for (let i = 0; i < 10; i++) await drain.write(record(`r${i}`))
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(Array.from({ length: 10 }, (_, i) => `r${i}`))
  expect(drain.backlog()).toBe(0)
})

test('what a killed run left in its journal is brought in by the next', async () => {
  const folder = folderOf()
  const table = openTable()
  const killed = open(folder, table)
  for (let i = 0; i < 5; i++) await killed.drain.write(record(`r${i}`))
  // Killed: nothing flushed, nothing closed.
  const next = open(folder, table)
  await next.drain.write(record('r5'))
  await next.drain.flush()
  expect([...table.rows.keys()].sort()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5'])
  expect(listSegments(folder)).toHaveLength(1)
})

test('what is written in one turn is in the kernel when the first write resolves, and went there in one call', async () => {
  const folder = folderOf()
  const journal = openJournal(folder, { onError: () => {} })
  const calls: (readonly string[])[] = []
  const append = (...records: readonly string[]): number => {
    calls.push(records)
    return journal.append(...records)
  }
  const log = silent
  const drain = new Drain({
    folder,
    journal: { ...journal, append },
    insert: openTable().insert,
    log,
    flushEveryMs: NEVER_MS,
  })
  const [first, ...others] = ['a', 'b', 'c'].map(id => drain.write(record(id)))
  expect(calls).toEqual([])
  await first
  const { records } = readSegment(segmentPath(folder, journal.current()))
  expect(records).toEqual(['{"id":"a"}', '{"id":"b"}', '{"id":"c"}'])
  await Promise.all(others)
  await drain.write(record('d'))
  expect(calls.map(each => each.length)).toEqual([3, 1])
})

test('while the database is away records wait, and arrive when it is back', async () => {
  const table = openTable()
  const { drain } = open(folderOf(), table)
  table.break()
  await drain.write(record('a'))
  await expect(drain.flush()).rejects.toThrow('the database is away')
  await drain.write(record('b'))
  expect(drain.backlog()).toBe(2)
  table.mend()
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b'])
})

test('what does not fit in memory waits in the journal and is not lost', async () => {
  const table = openTable()
  const { drain } = open(folderOf(), table, 2)
  table.break()
  for (let i = 0; i < 9; i++) await drain.write(record(`r${i}`))
  expect(drain.backlog()).toBe(2)
  table.mend()
  await drain.flush()
  expect([...table.rows.keys()].sort()).toEqual(Array.from({ length: 9 }, (_, i) => `r${i}`))
})

test('a journal is full at its bound, keeps what is still written, and has room when the database is back', async () => {
  const table = openTable()
  const folder = folderOf()
  const journal = openJournal(folder, { onError: () => {} })
  const drain = new Drain({
    folder,
    journal,
    insert: table.insert,
    log: silent,
    flushEveryMs: NEVER_MS,
    maxBytes: 100,
  })
  table.break()
  const ids = Array.from({ length: 20 }, (_, i) => `r${i}`)
  for (const id of ids) await drain.write(record(id))
  await expect(drain.flush()).rejects.toThrow('the database is away')
  expect(drain.isFull()).toBe(true)
  // A start counts what an earlier run left.
  expect(openJournal(folder, { onError: () => {} }).bytes()).toBe(journal.bytes())
  table.mend()
  await drain.flush()
  expect(drain.isFull()).toBe(false)
  expect([...table.rows.keys()]).toEqual(ids)
  await drain.close()
})

test('a clean close leaves no segment behind; one that the database refused keeps them', async () => {
  const folder = folderOf()
  const table = openTable()
  const clean = open(folder, table)
  await clean.drain.write(record('a'))
  await clean.drain.close()
  expect(listSegments(folder)).toEqual([])

  const refused = open(folder, table)
  table.break()
  await refused.drain.write(record('b'))
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
  await drain.write(record('a'))
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a'])
})

describe('a request that was opened', () => {
  test('and cut off by a kill counts as its open line says; one that ended counts once, as it ended', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = open(folder, table)
    killed.drain.open({ ...record('cut'), cost_nano_usd: 7 })
    killed.drain.open({ ...record('done'), cost_nano_usd: 7 })
    await killed.drain.write({ ...record('done'), cost_nano_usd: 3 })
    const next = open(folder, table)
    await next.drain.flush()
    expect([...table.rows.keys()].sort()).toEqual(['cut', 'done'])
    expect(JSON.parse(table.rows.get('cut')?.json ?? '')).toMatchObject({ id: 'cut', cost_nano_usd: 7 })
    expect(JSON.parse(table.rows.get('done')?.json ?? '')).toMatchObject({ cost_nano_usd: 3 })
    expect(listSegments(folder)).toHaveLength(1)
  })

  test('takes its line along when its segment is removed', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = open(folder, table)
    killed.drain.open(record('long'))
    await killed.drain.write(record('a'))
    killed.journal.rotate()
    await killed.drain.flush()
    expect(listSegments(folder)).toHaveLength(1)
    expect([...table.rows.keys()]).toEqual(['a'])
    await open(folder, table).drain.flush()
    expect([...table.rows.keys()]).toEqual(['a', 'long'])
  })

  test('and runs is not counted by a journal that overflowed', async () => {
    const table = openTable()
    const { drain } = open(folderOf(), table, 1)
    drain.open(record('runs'))
    for (const id of ['a', 'b', 'c']) await drain.write(record(id))
    await drain.flush()
    expect([...table.rows.keys()].sort()).toEqual(['a', 'b', 'c'])
  })
})

describe('what a killed run left', () => {
  const told = (records: readonly RecordLine[]): string[] => records.map(({ id }) => id).sort()

  test('is told once it is in the database, and its segments stay until that was heard', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = open(folder, table)
    await killed.drain.write(record('ended'))
    killed.drain.open(record('cut'))
    // Nobody hears it: this process is killed too.
    let heard: string[] = []
    const deaf = open(folder, table, undefined, records => {
      heard = told(records)
      expect([...table.rows.keys()].sort()).toEqual(['cut', 'ended'])
      return new Promise(() => {})
    })
    await deaf.drain.write(record('later'))
    await deaf.drain.flush()
    expect(heard).toEqual(['cut', 'ended'])
    expect(listSegments(folder)).toEqual([1, 2])
    // Its records are not read again meanwhile, and those of this run go their way.
    deaf.journal.rotate()
    await deaf.drain.flush()
    expect(listSegments(folder)).toEqual([1, 3])
    const hearing = open(folder, table, undefined, async records => {
      heard = told(records)
    })
    heard = []
    await hearing.drain.flush()
    expect(heard).toEqual(['cut', 'ended'])
    expect([...table.rows.keys()].sort()).toEqual(['cut', 'ended', 'later'])
    await hearing.drain.close()
    expect(listSegments(folder)).toEqual([])
  })
})

describe('a visitor', () => {
  test('comes when what was written before is in the database, and keeps later records out until it leaves', async () => {
    const table = openTable()
    const { drain } = open(folderOf(), table)
    await drain.write(record('before'))
    let leave: () => void = () => {}
    const seen = new Promise<string[]>(resolve => {
      void drain.visit(async missing => {
        await drain.write(record('during'))
        await new Promise<void>(left => {
          leave = left
          resolve([...table.rows.keys(), ...missing])
        })
      })
    })
    expect(await seen).toEqual(['before'])
    await new Promise(resolve => setImmediate(resolve))
    expect([...table.rows.keys()]).toEqual(['before'])
    leave()
    await drain.flush()
    await drain.visit(async missing => expect([...missing]).toEqual([]))
    expect([...table.rows.keys()]).toEqual(['before', 'during'])
  })

  test('is told where the database is away', async () => {
    const table = openTable()
    const { drain } = open(folderOf(), table)
    table.break()
    await drain.write(record('a'))
    await expect(drain.visit(async () => 1)).rejects.toThrow()
    table.mend()
    expect(await drain.visit(async () => 1)).toBe(1)
  })
})
