import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { RecordLine, RequestRecord } from '../core/records/request-record.ts'
import { Drain } from './drain.ts'
import { type Journal, listSegments, openJournal, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'
import { folderOf, NEVER_MS, openDrain, openTable, record, silent } from './testing/open-drain.ts'

test('writes every record to the database, in batches', async () => {
  const table = openTable()
  const { drain } = openDrain(folderOf(), table)
  for (let i = 0; i < 10; i++) await drain.write(record(`r${i}`))
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(Array.from({ length: 10 }, (_, i) => `r${i}`))
  expect(drain.backlog()).toBe(0)
})

test('writes the records in the journal of a killed run at the next start', async () => {
  const folder = folderOf()
  const table = openTable()
  const killed = openDrain(folder, table)
  for (let i = 0; i < 5; i++) await killed.drain.write(record(`r${i}`))
  // Neither flushed nor closed, like a killed process.
  const next = openDrain(folder, table)
  await next.drain.write(record('r5'))
  await next.drain.flush()
  expect([...table.rows.keys()].sort()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5'])
  expect(listSegments(folder)).toHaveLength(1)
})

test('appends the records of one tick in one call, and they are in the kernel when the first write resolves', async () => {
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
  const { records } = await readSegment(segmentPath(folder, journal.current()))
  expect(records).toEqual(['{"id":"a"}', '{"id":"b"}', '{"id":"c"}'])
  await Promise.all(others)
  await drain.write(record('d'))
  expect(calls.map(each => each.length)).toEqual([3, 1])
})

test('keeps records while the database is unavailable, and writes them afterwards', async () => {
  const table = openTable()
  const { drain } = openDrain(folderOf(), table)
  table.break()
  await drain.write(record('a'))
  await expect(drain.flush()).rejects.toThrow('the database is unavailable')
  await drain.write(record('b'))
  expect(drain.backlog()).toBe(2)
  table.restore()
  await drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b'])
})

test('reads records that do not fit in memory from the journal', async () => {
  const table = openTable()
  const { drain } = openDrain(folderOf(), table, 2)
  table.break()
  for (let i = 0; i < 9; i++) await drain.write(record(`r${i}`))
  expect(drain.backlog()).toBe(2)
  table.restore()
  await drain.flush()
  expect([...table.rows.keys()].sort()).toEqual(Array.from({ length: 9 }, (_, i) => `r${i}`))
})

test('is full at its limit, still keeps later records, and has space again once the database is back', async () => {
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
  await expect(drain.flush()).rejects.toThrow('the database is unavailable')
  expect(drain.isFull()).toBe(true)
  // A start counts the segments of earlier runs.
  expect(openJournal(folder, { onError: () => {} }).bytes()).toBe(journal.bytes())
  table.restore()
  await drain.flush()
  expect(drain.isFull()).toBe(false)
  expect([...table.rows.keys()]).toEqual(ids)
  await drain.close()
})

test('removes all segments on close, and keeps them if the database is unavailable', async () => {
  const folder = folderOf()
  const table = openTable()
  const clean = openDrain(folder, table)
  await clean.drain.write(record('a'))
  await clean.drain.close()
  expect(listSegments(folder)).toEqual([])

  const refused = openDrain(folder, table)
  table.break()
  await refused.drain.write(record('b'))
  await refused.drain.close()
  table.restore()
  const next = openDrain(folder, table)
  await next.drain.flush()
  expect([...table.rows.keys()]).toEqual(['a', 'b'])
})

test('writes a record to the database even if the journal cannot be written', async () => {
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

test('is full while a journal that cannot be written leaves too much in memory, and journals it later', async () => {
  const folder = folderOf()
  const table = openTable()
  const journal = openJournal(folder, { onError: () => {} })
  let hasSpace = false
  const disk: Journal = {
    ...journal,
    append: (...lines) => {
      if (!hasSpace) throw new Error('ENOSPC')
      return journal.append(...lines)
    },
  }
  const options = { folder, journal: disk, insert: table.insert, flushEveryMs: 5, maxQueuedChars: 2 ** 21 }
  const drain = new Drain({ ...options, log: silent })
  table.break()
  const write = (id: string) =>
    drain.write({
      id,
      // One organization would soon leave no bodies.
      org_id: id,
      status: 200,
      attempts: [{}],
      request_body: 'x'.repeat(30_000),
    } as unknown as RequestRecord)
  for (let at = 0; at < 10; at++) await write(`few${at}`)
  expect([drain.isFull(), drain.isMemoryFull()]).toEqual([false, false])
  for (let at = 0; at < 40; at++) await write(`many${at}`)
  expect([drain.isFull(), drain.isMemoryFull()]).toEqual([true, false])
  for (let at = 0; at < 30; at++) await write(`more${at}`)
  expect([drain.isFull(), drain.isMemoryFull()]).toEqual([true, true])
  hasSpace = true
  await expect.poll(() => drain.isFull()).toBe(false)
  // A kill now loses none of them.
  const segments = await Promise.all(
    listSegments(folder).map(segment => readSegment(segmentPath(folder, segment))),
  )
  const kept = segments.flatMap(({ records }) => records)
  expect(kept).toHaveLength(80)
  table.restore()
  await drain.flush()
  expect(table.rows.size).toBe(80)
  await drain.close()
})

describe('a request that was opened', () => {
  test('counts as its open line says if a kill cut it off, and once by its record if it ended', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = openDrain(folder, table)
    killed.drain.open({ ...record('cut'), cost_nano_usd: 7 })
    killed.drain.open({ ...record('done'), cost_nano_usd: 7 })
    await killed.drain.write({ ...record('done'), cost_nano_usd: 3 })
    const next = openDrain(folder, table)
    await next.drain.flush()
    expect([...table.rows.keys()].sort()).toEqual(['cut', 'done'])
    expect(JSON.parse(table.rows.get('cut')?.json ?? '')).toMatchObject({ id: 'cut', cost_nano_usd: 7 })
    expect(JSON.parse(table.rows.get('done')?.json ?? '')).toMatchObject({ cost_nano_usd: 3 })
    expect(listSegments(folder)).toHaveLength(1)
  })

  test('has its open line appended again when its segment is removed', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = openDrain(folder, table)
    killed.drain.open(record('long'))
    await killed.drain.write(record('a'))
    killed.journal.rotate()
    await killed.drain.flush()
    expect(listSegments(folder)).toHaveLength(1)
    expect([...table.rows.keys()]).toEqual(['a'])
    await openDrain(folder, table).drain.flush()
    expect([...table.rows.keys()]).toEqual(['a', 'long'])
  })

  test('is not counted while it runs, even if the queue overflows and segments are read', async () => {
    const table = openTable()
    const { drain } = openDrain(folderOf(), table, 1)
    drain.open(record('runs'))
    for (const id of ['a', 'b', 'c']) await drain.write(record(id))
    await drain.flush()
    expect([...table.rows.keys()].sort()).toEqual(['a', 'b', 'c'])
  })
})

describe('the records of a killed run', () => {
  const idsOf = async (records: AsyncIterable<readonly RecordLine[]>): Promise<string[]> => {
    const ids: string[] = []
    for await (const lines of records) ids.push(...lines.map(({ id }) => id))
    return ids.sort()
  }

  test('go to onReplayed once they are in the database, and their segments are kept until it resolves', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = openDrain(folder, table)
    await killed.drain.write(record('ended'))
    killed.drain.open(record('cut'))
    // `onReplayed` never resolves, as if this process were killed too.
    let noteReplayed: (ids: string[]) => void = () => {}
    let replayed = new Promise<string[]>(resolve => {
      noteReplayed = resolve
    })
    const second = openDrain(folder, table, undefined, async records => {
      expect([...table.rows.keys()].sort()).toEqual(['cut', 'ended'])
      noteReplayed(await idsOf(records))
      await new Promise(() => {})
    })
    await second.drain.write(record('later'))
    await second.drain.flush()
    expect(await replayed).toEqual(['cut', 'ended'])
    expect(listSegments(folder)).toEqual([1, 2])
    // The kept segment is not read again, and the segments of this run are removed as usual.
    second.journal.rotate()
    await second.drain.flush()
    expect(listSegments(folder)).toEqual([1, 3])
    replayed = new Promise<string[]>(resolve => {
      noteReplayed = resolve
    })
    const third = openDrain(folder, table, undefined, async records => noteReplayed(await idsOf(records)))
    await third.drain.flush()
    expect(await replayed).toEqual(['cut', 'ended'])
    expect([...table.rows.keys()].sort()).toEqual(['cut', 'ended', 'later'])
    await third.drain.close()
    expect(listSegments(folder)).toEqual([])
  })

  test('are read from one segment after another, each when the one before is settled: all may not fit in memory', async () => {
    const folder = folderOf()
    const table = openTable()
    const killed = openDrain(folder, table)
    for (const id of ['a', 'b']) {
      await killed.drain.write(record(id))
      killed.journal.rotate()
    }
    killed.drain.open(record('cut'))
    const replayed: string[][] = []
    let noteReplayed: () => void = () => {}
    const ended = new Promise<void>(resolve => {
      noteReplayed = resolve
    })
    const next = openDrain(folder, table, undefined, async records => {
      for await (const lines of records) {
        replayed.push(lines.map(({ id }) => id))
        // A segment that was read before would still be reported.
        writeFileSync(segmentPath(folder, 2), '')
      }
      noteReplayed()
    })
    await next.drain.flush()
    await ended
    await next.drain.close()
    expect(replayed).toEqual([['a'], [], [], ['cut']])
    expect([...table.rows.keys()]).toEqual(['a', 'b', 'cut'])
    expect(listSegments(folder)).toEqual([])
  })
})

describe('afterFlush', () => {
  test('runs once earlier records are in the database, and later records are inserted after it', async () => {
    const table = openTable()
    const { drain } = openDrain(folderOf(), table)
    await drain.write(record('before'))
    let end: () => void = () => {}
    const seen = new Promise<string[]>(resolve => {
      void drain.afterFlush(async missing => {
        await drain.write(record('during'))
        await new Promise<void>(ended => {
          end = ended
          resolve([...table.rows.keys(), ...missing])
        })
      })
    })
    expect(await seen).toEqual(['before'])
    await new Promise(resolve => setImmediate(resolve))
    expect([...table.rows.keys()]).toEqual(['before'])
    end()
    await drain.flush()
    await drain.afterFlush(async missing => expect([...missing]).toEqual([]))
    expect([...table.rows.keys()]).toEqual(['before', 'during'])
  })

  test('rejects while the database is unavailable', async () => {
    const table = openTable()
    const { drain } = openDrain(folderOf(), table)
    table.break()
    await drain.write(record('a'))
    await expect(drain.afterFlush(async () => 1)).rejects.toThrow()
    table.restore()
    expect(await drain.afterFlush(async () => 1)).toBe(1)
  })
})

describe('afterFlush with a signal', () => {
  test('is given up with its reason, and never runs then', async () => {
    const table = openTable()
    const { drain } = openDrain(folderOf(), table)
    const [wait, late] = [new AbortController(), new AbortController()]
    await drain.write(record('a'))
    const runs: string[] = []
    const run = (name: string) => async () => void runs.push(name)
    const aborted = drain.afterFlush(run('aborted'), wait.signal)
    const other = drain.afterFlush(run('other'), late.signal)
    wait.abort(new Error('too late'))
    await expect(aborted).rejects.toThrow('too late')
    await other
    late.abort()
    await expect(drain.afterFlush(run('again'), wait.signal)).rejects.toThrow('too late')
    expect(runs).toEqual(['other'])
  })

  test('ends as it does once it runs, whatever the signal', async () => {
    const { drain } = openDrain(folderOf(), openTable())
    const wait = new AbortController()
    const read = drain.afterFlush(async () => {
      wait.abort()
      return 'read'
    }, wait.signal)
    expect(await read).toBe('read')
  })
})
