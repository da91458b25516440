import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { RecordBatch } from '../core/records/request-record.ts'
import { Drain } from './drain.ts'
import { openJournal } from './journal.ts'
import { LineBatch } from './record-queue.ts'
import { folderOf, NEVER_MS, openTable, record, silent } from './testing/open-drain.ts'

/** A drain with batches of three whose inserts wait until they are released. Tells whether the one that runs is hurried. */
function openPausedDrain() {
  const folder = folderOf()
  const { insert } = openTable()
  let release = (): void => {}
  let isHurried: (() => boolean) | undefined
  const openBatch = (): RecordBatch => {
    const batch = new LineBatch(insert)
    return {
      ids: batch.ids,
      chars: 0,
      add: line => batch.add(line),
      async insert(isInsertHurried) {
        isHurried = isInsertHurried
        await new Promise<void>(resolve => void (release = resolve))
        isHurried = undefined
        await batch.insert()
      },
      release: () => batch.release(),
    }
  }
  const drain = new Drain({
    folder,
    journal: openJournal(folder, { onError: () => {} }),
    insert,
    openBatch,
    log: silent,
    flushEveryMs: NEVER_MS,
    batchSize: 3,
  })
  const releaseNext = async (): Promise<void> => {
    await expect.poll(() => isHurried).toBeDefined()
    release()
  }
  return { drain, isHurried: () => isHurried?.(), releaseNext }
}

test('an insert leaves the database pauses until another whole batch waits', async () => {
  const { drain, isHurried, releaseNext } = openPausedDrain()
  await drain.write(record('r0'))
  const flushed = drain.insertDue()
  await expect.poll(isHurried).toBe(false)
  for (const id of ['r1', 'r2']) await drain.write(record(id))
  expect(isHurried()).toBe(false)
  await drain.write(record('r3'))
  expect(isHurried()).toBe(true)
  await releaseNext()
  await releaseNext()
  await flushed
})

test('an insert is hurried once a read waits for it', async () => {
  const { drain, isHurried, releaseNext } = openPausedDrain()
  await drain.write(record('r0'))
  void drain.insertDue()
  await expect.poll(isHurried).toBe(false)
  const read = drain.afterFlush(async () => 'read')
  expect(isHurried()).toBe(true)
  await releaseNext()
  expect(await read).toBe('read')
})

test('an insert is hurried once the process ends', async () => {
  const { drain, isHurried, releaseNext } = openPausedDrain()
  await drain.write(record('r0'))
  void drain.insertDue()
  await expect.poll(isHurried).toBe(false)
  const closed = drain.close()
  expect(isHurried()).toBe(true)
  await releaseNext()
  await closed
})

test('a drain is behind once many batches wait, or a read', async () => {
  const { drain, releaseNext } = openPausedDrain()
  const batches = 20
  const write = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) await drain.write(record(randomUUID()))
  }
  await write(3 * batches)
  const flushed = drain.insertDue()
  expect(drain.isBehind()).toBe(false)
  await write(1)
  expect(drain.isBehind()).toBe(true)
  for (let at = 0; at < batches; at++) await releaseNext()
  await flushed
  expect(drain.isBehind()).toBe(false)
  await write(1)
  const read = drain.afterFlush(async () => 'read')
  expect(drain.isBehind()).toBe(true)
  await releaseNext()
  expect(await read).toBe('read')
})

test('a drain is behind while a batch takes long', async () => {
  const { drain, releaseNext } = openPausedDrain()
  await drain.write(record('r0'))
  const flushed = drain.insertDue()
  expect(drain.isBehind()).toBe(false)
  await expect.poll(() => drain.isBehind(), { timeout: 5_000 }).toBe(true)
  await releaseNext()
  await flushed
  expect(drain.isBehind()).toBe(false)
})
