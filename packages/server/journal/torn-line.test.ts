import fs, { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { openJournal, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'

const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY }))

/** A disk with space for `room` more bytes, which writes the part that fits. */
vi.mock('node:fs', async original => {
  const real = await original<typeof fs>()
  const writeSync = (file: number, bytes: Buffer, offset: number, length: number): number => {
    if (disk.room === 0) throw new Error('ENOSPC')
    const written = real.writeSync(file, bytes, offset, Math.min(length, disk.room))
    disk.room -= written
    return written
  }
  return { ...real, default: { ...real, writeSync }, writeSync }
})

test('keeps the line after one that a full disk wrote only partly', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-journal-'))
  const journal = openJournal(folder, { onError: () => {} })
  journal.append('{"a":1}')
  disk.room = 20
  expect(() => journal.append('{"b":2}', '{"c":3}')).toThrow('ENOSPC')
  disk.room = Number.POSITIVE_INFINITY
  journal.append('{"d":4}')
  expect(readSegment(segmentPath(folder, journal.current()))).toEqual({
    records: ['{"a":1}', '{"b":2}', '{"d":4}'],
    badLines: 1,
  })
  expect(journal.bytes()).toBe(fs.statSync(segmentPath(folder, journal.current())).size)
  journal.close()
})
