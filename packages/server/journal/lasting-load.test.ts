import { expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import { Drain } from './drain.ts'
import { type Journal, listSegments, openJournal, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'
import { folderOf, NEVER_MS, record, silent } from './testing/open-drain.ts'

/** Records that come without end, and failures of the journal's folder while they do. */

const BATCH = 3

/** A drain whose database is unavailable at first, and whose journal can fail. `onInsert` is called during each insert. */
function openLoadedDrain(onInsert: (drain: Drain) => Promise<void> = async () => {}, maxQueued = BATCH) {
  const folder = folderOf()
  const stored: string[] = []
  const state = { isAvailable: false, canRotate: true, canAppend: (_line: string): boolean => true }
  const opened = openJournal(folder, { onError: () => {} })
  const journal: Journal = {
    ...opened,
    rotate() {
      if (!state.canRotate) throw new Error('EMFILE')
      return opened.rotate()
    },
    append(...lines) {
      if (!lines.every(state.canAppend)) throw new Error('ENOSPC')
      return opened.append(...lines)
    },
  }
  const drain: Drain = new Drain({
    folder,
    journal,
    log: silent,
    flushEveryMs: NEVER_MS,
    batchSize: BATCH,
    maxQueued,
    async insert(records) {
      if (!state.isAvailable) throw new Error('the database is unavailable')
      await onInsert(drain)
      stored.push(...records.map(({ id }) => id))
    },
  })
  return { folder, stored, state, opened, drain }
}

async function writeAll(drain: Drain, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map(id => drain.write(record(id))))
}

/** Writes a batch of records during each insert, up to `inserts` of them. */
function keepWriting(inserts: number): (drain: Drain) => Promise<void> {
  let left = inserts
  return async drain => {
    if (left-- <= 0) return
    await writeAll(
      drain,
      Array.from({ length: BATCH }, (_, at) => `more ${left} ${at}`),
    )
  }
}

test('records that did not fit in memory are stored while further ones come all the time', async () => {
  const INSERTS = 200
  const { folder, stored, state, opened, drain } = openLoadedDrain(keepWriting(INSERTS))
  for (const at of [1, 2, 3]) {
    await writeAll(drain, [`a${at}`, `b${at}`])
    opened.rotate()
  }
  state.isAvailable = true
  await drain.insertDue()
  const last = Math.max(...['b2', 'a3', 'b3'].map(id => stored.indexOf(id)))
  expect(last).toBeGreaterThan(0)
  expect(last).toBeLessThan(BATCH * 20)
  await drain.flush()
  expect(new Set(stored).size).toBe(6 + INSERTS * BATCH)
  await drain.close()
  expect(listSegments(folder)).toEqual([])
})

test('a flush resolves while whole batches wait all the time', async () => {
  const INSERTS = 200
  const { stored, state, drain } = openLoadedDrain(keepWriting(INSERTS), 10 * BATCH)
  state.isAvailable = true
  await writeAll(drain, ['first'])
  await drain.flush()
  expect(stored).toContain('first')
  expect(stored.length).toBeLessThan(BATCH * 20)
  await drain.close()
})

test('a segment that cannot be begun after the memory was full loses nothing', async () => {
  const { stored, state, opened, drain } = openLoadedDrain()
  const ids = Array.from({ length: 12 }, (_, at) => `r${at}`)
  for (const id of ids) {
    await writeAll(drain, [id])
    opened.rotate()
  }
  state.isAvailable = true
  state.canRotate = false
  await expect(drain.flush()).rejects.toThrow('EMFILE')
  await writeAll(drain, ['later'])
  await expect(drain.flush()).rejects.toThrow('EMFILE')
  state.canRotate = true
  await drain.flush()
  // The database stores once what was in memory and in a segment that is read.
  expect(new Set(stored)).toEqual(new Set([...ids, 'later']))
  await drain.close()
})

test('the open line of a record that could not be journaled is kept until the record is stored', async () => {
  const journaled: string[] = []
  const readJournal = async (): Promise<void> => {
    const contents = listSegments(folder).map(segment => readSegment(segmentPath(folder, segment)))
    journaled.push((await Promise.all(contents)).flatMap(({ records }) => records).join('\n'))
  }
  const { folder, stored, state, opened, drain } = openLoadedDrain(readJournal)
  const billed = (id: string): RequestRecord =>
    ({ id, status: 200, attempts: [{}] }) as unknown as RequestRecord
  await writeAll(drain, ['a', 'b', 'c'])
  drain.open(billed('x'))
  opened.rotate()
  state.canAppend = line => line.startsWith('{"open"') || !line.includes('"x"')
  await drain.write(billed('x'))
  state.isAvailable = true
  await drain.flush()
  expect(stored).toEqual(['a', 'b', 'c', 'x'])
  // As a kill would have left it before each of both batches was stored.
  expect(journaled).toEqual([expect.stringContaining('"x"'), expect.stringContaining('"x"')])
  await drain.close()
  expect(listSegments(folder)).toEqual([])
})

test('segments without an open line are removed if another one cannot be moved', async () => {
  const { folder, state, opened, drain } = openLoadedDrain()
  drain.open({ id: 'running' } as RequestRecord)
  for (const id of ['a', 'b', 'c']) {
    opened.rotate()
    await writeAll(drain, [id])
  }
  opened.rotate()
  state.canAppend = () => false
  state.isAvailable = true
  await drain.flush()
  expect(listSegments(folder)).toEqual([1, 5])
})

test('a read that comes while segments are removed for another one runs too', async () => {
  const folder = folderOf()
  const opened = openJournal(folder, { onError: () => {} })
  const state: { second?: Promise<string> } = {}
  const journal: Journal = {
    ...opened,
    async remove(segments) {
      state.second ??= drain.afterFlush(async () => 'second')
      await opened.remove(segments)
    },
  }
  const insert = async (): Promise<void> => {}
  const drain: Drain = new Drain({ folder, journal, log: silent, flushEveryMs: NEVER_MS, insert })
  await writeAll(drain, ['a'])
  await drain.insertDue()
  opened.rotate()
  expect(await drain.afterFlush(async () => 'first')).toBe('first')
  expect(state.second).toBeDefined()
  expect(await state.second).toBe('second')
  await drain.close()
})

test('an open line that was moved into a further segment is kept while it cannot be moved again', async () => {
  const folder = folderOf()
  const maxSegmentBytes = 600
  const opened = openJournal(folder, { onError: () => {}, maxSegmentBytes })
  let canAppend = true
  const journal: Journal = {
    ...opened,
    append(...lines) {
      if (!canAppend) throw new Error('ENOSPC')
      const segment = opened.append(...lines)
      canAppend = segment === 1 || lines[0]?.startsWith('{"open"') !== true
      return segment
    },
  }
  const drain = new Drain({ folder, journal, log: silent, flushEveryMs: NEVER_MS, insert: async () => {} })
  const long = (id: string): RequestRecord =>
    ({ id, user: 'x'.repeat(250), status: 200, attempts: [{}] }) as unknown as RequestRecord
  drain.open(long('running'))
  journal.rotate()
  await drain.write(long('a'))
  // Moves the line, for which the second segment has no room. Nothing can be written after it.
  await drain.flush()
  expect(canAppend).toBe(false)
  expect(journal.current()).toBe(3)
  journal.rotate()
  await drain.flush()
  const contents = listSegments(folder).map(segment => readSegment(segmentPath(folder, segment)))
  const lines = (await Promise.all(contents)).flatMap(({ records }) => records)
  expect(lines.join('\n')).toContain('"running"')
})

test('what could not be journaled is journaled at the end, if the database is unavailable', async () => {
  const { folder, state, drain } = openLoadedDrain()
  state.canAppend = () => false
  await drain.write({ id: 'x', status: 200, attempts: [{}] } as unknown as RequestRecord)
  state.canAppend = () => true
  await drain.close()
  const { records } = await readSegment(segmentPath(folder, 1))
  expect(records.join('\n')).toContain('"x"')
})
