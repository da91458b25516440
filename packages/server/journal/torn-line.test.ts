import fs, { mkdtempSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openJournal, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'

const { fdatasyncSync, writeSync } = fs

/** Leaves the disk space for `room` more bytes. What fits is written. Modules see it by their named imports too. */
function limitDisk(room: number): void {
  let left = room
  const write = (file: number, bytes: Buffer, offset: number, length: number): number => {
    if (left === 0) throw new Error('ENOSPC')
    const written = writeSync(file, bytes, offset, Math.min(length, left))
    left -= written
    return written
  }
  fs.writeSync = write as typeof writeSync
  syncBuiltinESMExports()
}

function freeDisk(): void {
  fs.writeSync = writeSync
  fs.fdatasyncSync = fdatasyncSync
  syncBuiltinESMExports()
}

afterEach(freeDisk)

test('keeps the line after one that a full disk wrote only partly', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-journal-'))
  const journal = openJournal(folder, { onError: () => {} })
  journal.append('{"a":1}')
  limitDisk(20)
  expect(() => journal.append('{"b":2}', '{"c":3}')).toThrow('ENOSPC')
  freeDisk()
  journal.append('{"d":4}')
  expect(await readSegment(segmentPath(folder, journal.current()))).toEqual({
    records: ['{"a":1}', '{"b":2}', '{"d":4}'],
    badLines: 1,
  })
  expect(journal.bytes()).toBe(fs.statSync(segmentPath(folder, journal.current())).size)
  journal.close()
})

test('keeps the line after a torn one if nothing could be written in between', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-journal-'))
  const journal = openJournal(folder, { onError: () => {} })
  limitDisk(5)
  for (const line of ['{"a":1}', '{"b":2}']) expect(() => journal.append(line)).toThrow('ENOSPC')
  freeDisk()
  for (const line of ['{"c":3}', '{"d":4}']) journal.append(line)
  expect(await readSegment(segmentPath(folder, journal.current()))).toEqual({
    records: ['{"c":3}', '{"d":4}'],
    badLines: 1,
  })
  journal.close()
})

test('ends also if its last lines cannot be synced, and reports that', () => {
  const errors: unknown[] = []
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-journal-'))
  const journal = openJournal(folder, { onError: error => errors.push(error) })
  journal.append('{"a":1}')
  fs.fdatasyncSync = () => {
    throw new Error('EIO')
  }
  syncBuiltinESMExports()
  journal.close()
  expect(errors).toEqual([new Error('EIO')])
})
