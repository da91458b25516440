import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Drain } from './drain.ts'
import { listSegments, openJournal, segmentPath } from './journal.ts'
import { folderOf, NEVER_MS, openTable, record, silent } from './testing/open-drain.ts'

test('records are inserted while old segments are being removed, which are not listed meanwhile', async () => {
  const folder = folderOf()
  const table = openTable()
  const opened = openJournal(folder, { onError: () => {} })
  const removals: number[][] = []
  let endRemoval = (): void => {}
  const journal = {
    ...opened,
    remove: (segments: readonly number[]) => {
      removals.push([...segments])
      const removing = opened.remove(segments)
      expect(opened.segments()).not.toContain(segments[0])
      return new Promise<void>(resolve => {
        endRemoval = () => void removing.then(resolve)
      })
    },
  }
  const drain = new Drain({ folder, journal, insert: table.insert, log: silent, flushEveryMs: NEVER_MS })
  await drain.write(record('a'))
  opened.rotate()
  const first = drain.flush()
  await expect.poll(() => removals).toEqual([[1]])
  await drain.write(record('b'))
  const second = drain.flush()
  expect([...table.rows.keys()]).toEqual(['a'])
  endRemoval()
  await Promise.all([first, second])
  expect([...table.rows.keys()]).toEqual(['a', 'b'])
  expect(listSegments(folder)).toEqual([2])
  expect(removals).toEqual([[1]])
})

test('a segment that cannot be removed is reported once, counted as before, and removed by a later flush', async () => {
  const folder = folderOf()
  const errors: unknown[] = []
  const journal = openJournal(folder, { onError: error => errors.push(error) })
  const { insert } = openTable()
  const drain = new Drain({ folder, journal, insert, log: silent, flushEveryMs: NEVER_MS })
  await drain.write(record('a'))
  const bytes = journal.bytes()
  journal.rotate()
  // A folder in its place cannot be removed as a file.
  const [file, away] = [segmentPath(folder, 1), `${folder}/away`]
  renameSync(file, away)
  mkdirSync(file)
  for (let flushes = 2; flushes > 0; flushes--) {
    await drain.flush()
    expect(errors).toHaveLength(1)
    expect([journal.segments(), journal.bytes()]).toEqual([[1, 2], bytes])
  }
  rmdirSync(file)
  renameSync(away, file)
  await drain.flush()
  expect(errors).toHaveLength(1)
  expect([journal.segments(), journal.bytes()]).toEqual([[2], 0])
  await drain.close()
})

test('segments are removed while further records always wait', async () => {
  const folder = folderOf()
  const journal = openJournal(folder, { onError: () => {} })
  const SEGMENTS = 10
  const kept: number[] = []
  const stored: string[] = []
  const drain = new Drain({
    folder,
    journal,
    log: silent,
    flushEveryMs: NEVER_MS,
    batchSize: 2,
    async insert(records) {
      kept.push(listSegments(folder).length)
      if (journal.current() < SEGMENTS) {
        journal.rotate()
        await Promise.all(['a', 'b'].map(id => drain.write(record(`${id}${journal.current()}`))))
      }
      stored.push(...records.map(({ id }) => id))
    },
  })
  await Promise.all(['a', 'b', 'c'].map(id => drain.write(record(`${id}1`))))
  await drain.insertDue()
  // The last record is half a batch.
  await drain.flush()
  expect(stored).toHaveLength(2 * SEGMENTS + 1)
  expect(kept).toHaveLength(SEGMENTS + 1)
  // That of the batch, and one for what came while the batch before was inserted.
  expect(Math.max(...kept)).toBeLessThanOrEqual(3)
  await drain.close()
})

test('a segment that was read is removed at once, so that it is not read again if the memory fills meanwhile', async () => {
  const folder = folderOf()
  const journal = openJournal(folder, { onError: () => {} })
  const inserted: string[] = []
  let isAvailable = false
  const drain = new Drain({
    folder,
    journal,
    log: silent,
    flushEveryMs: NEVER_MS,
    maxQueued: 1,
    async insert(records) {
      if (!isAvailable) throw new Error('the database is unavailable')
      const ids = records.map(({ id }) => id)
      inserted.push(...ids)
      if (ids.includes('second')) await Promise.all(['later', 'latest'].map(id => drain.write(record(id))))
    },
  })
  for (const id of ['first', 'second', 'third', 'fourth']) {
    await drain.write(record(id))
    journal.rotate()
  }
  await expect(drain.flush()).rejects.toThrow('unavailable')
  isAvailable = true
  await drain.flush()
  // What came meanwhile delays no flush.
  await drain.flush()
  const count = (id: string): number => inserted.filter(each => each === id).length
  expect(['second', 'third', 'fourth'].map(count)).toEqual([1, 1, 1])
  expect(['first', 'later', 'latest'].map(count).every(times => times > 0)).toBe(true)
  await drain.close()
  expect(listSegments(folder)).toEqual([])
})
