import { expect, test } from 'vitest'
import type { RecordLine } from '../core/records/request-record.ts'
import { listSegments } from './journal.ts'
import { folderOf, openDrain, openTable, record } from './testing/open-drain.ts'

/** A table whose inserts wait until they are released, with the ids of each batch. */
function openSlowTable() {
  const table = openTable()
  const batches: string[][] = []
  const waiting: (() => void)[] = []
  return {
    ...table,
    batches,
    /** Ends the insert that runs. */
    release: async () => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      waiting.shift()?.()
    },
    async insert(records: readonly RecordLine[]) {
      batches.push(records.map(({ id }) => id))
      await new Promise<void>(resolve => waiting.push(resolve))
      await table.insert(records)
    },
  }
}

test('collects records that come during an insert until the next flush or a whole batch', async () => {
  const folder = folderOf()
  const table = openSlowTable()
  const { drain } = openDrain(folder, table)
  await drain.write(record('r0'))
  const first = drain.insertDue()
  await drain.write(record('r1'))
  await drain.write(record('r2'))
  await table.release()
  await first
  expect(table.batches).toEqual([['r0']])
  const second = drain.insertDue()
  for (const id of ['r3', 'r4', 'r5', 'r6']) await drain.write(record(id))
  await table.release()
  // A whole batch of three does not wait.
  await table.release()
  await second
  expect(table.batches).toEqual([['r0'], ['r1', 'r2'], ['r3', 'r4', 'r5']])
  expect(drain.backlog()).toBe(1)
})

test('keeps the segments of records that are collected, so that a kill loses none', async () => {
  const folder = folderOf()
  const table = openSlowTable()
  const { drain, journal } = openDrain(folder, table)
  await drain.write(record('r0'))
  const first = drain.insertDue()
  await drain.write(record('r1'))
  journal.rotate()
  await drain.write(record('r2'))
  await table.release()
  await first
  // Killed here.
  const next = openTable()
  const after = openDrain(folder, next)
  await after.drain.insertDue()
  expect([...next.rows.keys()].sort()).toEqual(['r0', 'r1', 'r2'])
})

test('a flush waits for the records that came before it during another one, and a close for all', async () => {
  const folder = folderOf()
  const table = openSlowTable()
  const { drain } = openDrain(folder, table)
  await drain.write(record('r0'))
  void drain.insertDue()
  await drain.write(record('r1'))
  const flushed = drain.insertDue()
  await table.release()
  await table.release()
  await flushed
  expect([...table.rows.keys()]).toEqual(['r0', 'r1'])
  await drain.write(record('r2'))
  const closed = drain.close()
  await drain.write(record('r3'))
  await table.release()
  await table.release()
  await closed
  expect([...table.rows.keys()]).toEqual(['r0', 'r1', 'r2', 'r3'])
  expect(listSegments(folder)).toEqual([])
})
