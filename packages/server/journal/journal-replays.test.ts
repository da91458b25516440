import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { throwLater } from '../core/on-exception.ts'
import type { RecordLine, RequestRecord } from '../core/records/request-record.ts'
import { Drain } from './drain.ts'
import { openJournal } from './journal.ts'
import { JournalReplays } from './journal-replays.ts'

const WORKER = '7-a-worker'
const log = { error: () => {}, warn: () => {} }

let folder: string
let stored: string[]
let replayed: string[]
let isBroken: boolean
let isWritten: boolean
let inserting: number
/** The most inserts that ran at once. */
let mostInserting: number
let reporting: number
/** The most calls of onReplayed that ran at once. */
let mostReporting: number

const insert = async (records: readonly RecordLine[]): Promise<void> => {
  if (isBroken) throw new Error('the database is unavailable')
  mostInserting = Math.max(mostInserting, ++inserting)
  await new Promise(resolve => setImmediate(resolve))
  inserting--
  for (const { id } of records) if (!stored.includes(id)) stored.push(id)
}

const open = (): JournalReplays =>
  new JournalReplays({
    folder,
    isWritten: () => isWritten,
    insert,
    log,
    onException: throwLater,
    onReplayed: async records => {
      mostReporting = Math.max(mostReporting, ++reporting)
      for await (const lines of records) {
        replayed.push(...lines.map(({ id }) => id))
        await new Promise(resolve => setImmediate(resolve))
      }
      reporting--
    },
  })

/** Writes the journal of a process that is killed: one request has ended, another one runs. */
async function leaveJournal(name: string): Promise<void> {
  const own = path.join(folder, name)
  mkdirSync(own, { recursive: true })
  const journal = openJournal(own, { onError: error => throwLater(error, folder) })
  const killed = new Drain({ folder: own, journal, insert: async () => {}, log, flushEveryMs: 1e9 })
  killed.open({ id: `${name} ended` } as RequestRecord)
  await killed.write({ id: `${name} ended` } as RequestRecord)
  killed.open({ id: `${name} cut off` } as RequestRecord)
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'rideau-replays-'))
  stored = []
  replayed = []
  isBroken = false
  isWritten = false
  inserting = 0
  mostInserting = 0
  reporting = 0
  mostReporting = 0
})

test('stores and reports what a killed worker has journaled, and removes its folder', async () => {
  await leaveJournal(WORKER)
  const replays = open()
  await replays.replay(WORKER)
  expect(stored).toEqual([`${WORKER} ended`, `${WORKER} cut off`])
  expect(replayed).toEqual(stored)
  expect(readdirSync(folder)).toEqual([])
  await replays.close()
})

test('replays the folders of all workers of earlier starts one after another, and without one has nothing to do', async () => {
  await Promise.all([leaveJournal('1-one'), leaveJournal('2-two')])
  mkdirSync(path.join(folder, '3-never-used'))
  const replays = open()
  replays.replayAll()
  await Promise.all(['1-one', '2-two', '3-never-used', '4-none'].map(name => replays.replay(name)))
  expect([...stored].sort()).toEqual(['1-one cut off', '1-one ended', '2-two cut off', '2-two ended'])
  // They share a connection, and do not fit in memory together.
  expect([mostInserting, mostReporting]).toEqual([1, 1])
  expect(readdirSync(folder)).toEqual([])
  await replays.flush()
  await replays.close()
})

test("replays a process's own folder, of which it keeps the folders of workers", async () => {
  await leaveJournal('.')
  mkdirSync(path.join(folder, WORKER))
  const replays = open()
  await replays.replay('.')
  expect(stored).toEqual(['. ended', '. cut off'])
  expect(readdirSync(folder)).toEqual([WORKER])
  await replays.close()
})

test('leaves the journal of a worker that still runs, and does not count it as stored', async () => {
  await leaveJournal(WORKER)
  isWritten = true
  const replays = open()
  const replay = replays.replay(WORKER)
  await expect(replays.flush()).rejects.toThrow('is not replayed yet')
  isWritten = false
  await replay
  expect(stored).toEqual([`${WORKER} ended`, `${WORKER} cut off`])
  await replays.close()
})

test('keeps a journal for the next start that the database does not take before it closes', async () => {
  await leaveJournal(WORKER)
  isBroken = true
  const replays = open()
  const replay = replays.replay(WORKER)
  await expect.poll(() => replays.flush().then(() => 'stored', String)).toContain('unavailable')
  await replays.close()
  await replay
  expect(stored).toEqual([])
  expect(existsSync(path.join(folder, WORKER))).toBe(true)
  isBroken = false
  const again = open()
  await again.replay(WORKER)
  expect(stored).toEqual([`${WORKER} ended`, `${WORKER} cut off`])
  await again.close()
})
