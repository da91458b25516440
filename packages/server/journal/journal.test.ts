import { appendFileSync, mkdtempSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { listSegments, openJournal, segmentPath } from './journal.ts'
import { readSegment } from './read-segment.ts'

const options = { onError: (error: unknown) => expect.unreachable(String(error)) }

function folder(): string {
  return mkdtempSync(path.join(tmpdir(), 'rideau-journal-'))
}

test('returns appended records in order', async () => {
  const dir = folder()
  const journal = openJournal(dir, options)
  for (let i = 0; i < 100; i++) journal.append(JSON.stringify({ i, text: 'ä\n"' }))
  const { records, badLines } = await readSegment(segmentPath(dir, journal.current()))
  expect(records.map(json => (JSON.parse(json) as { i: number }).i)).toEqual(
    Array.from({ length: 100 }, (_, i) => i),
  )
  expect(badLines).toBe(0)
  journal.close()
})

test('returns whole records only from a segment that is cut at any byte', async () => {
  const dir = folder()
  const journal = openJournal(dir, options)
  const lines = ['{"a":1}', '{"b":"zwei"}', '{"c":[3]}']
  for (const line of lines) journal.append(line)
  journal.close()
  const file = segmentPath(dir, 1)
  const whole = readFileSync(file)
  const cut = path.join(dir, 'cut')
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(cut, whole)
    truncateSync(cut, length)
    const { records } = await readSegment(cut)
    expect(lines.slice(0, records.length)).toEqual(records)
  }
})

test('counts a damaged line and keeps the lines around it', async () => {
  const dir = folder()
  const journal = openJournal(dir, options)
  journal.append('{"a":1}')
  appendFileSync(segmentPath(dir, 1), 'torn by a kill\n')
  journal.append('{"b":2}')
  journal.close()
  expect(await readSegment(segmentPath(dir, 1))).toEqual({ records: ['{"a":1}', '{"b":2}'], badLines: 1 })
})

test('begins a new segment at each start', () => {
  const dir = folder()
  openJournal(dir, options).close()
  const second = openJournal(dir, options)
  expect(second.current()).toBe(2)
  expect(listSegments(dir)).toEqual([1, 2])
  second.close()
})

test('goes on in its segment while no new one can be opened', async () => {
  const home = folder()
  const journal = openJournal(home, { onError: () => {} })
  journal.append('{"a":1}')
  const [segment, bytes] = [journal.current(), journal.bytes()]
  renameSync(home, `${home}-away`)
  expect(() => journal.rotate()).toThrow('ENOENT')
  renameSync(`${home}-away`, home)
  expect([journal.current(), journal.bytes()]).toEqual([segment, bytes])
  journal.append('{"b":2}')
  expect((await readSegment(segmentPath(home, journal.current()))).records).toEqual(['{"a":1}', '{"b":2}'])
  expect(journal.rotate()).toBe(segment + 1)
  journal.close()
})

test('begins a new segment when one is full', async () => {
  const dir = folder()
  const journal = openJournal(dir, { ...options, maxSegmentBytes: 64 })
  for (let i = 0; i < 10; i++) journal.append(JSON.stringify({ i, pad: 'x'.repeat(20) }))
  const segments = await Promise.all(
    listSegments(dir).map(sequence => readSegment(segmentPath(dir, sequence))),
  )
  const all = segments.flatMap(({ records }) => records)
  expect(all).toHaveLength(10)
  expect(listSegments(dir).length).toBeGreaterThan(3)
  journal.close()
})

test('counts a line over the limit as damaged and keeps the lines around it', async () => {
  const dir = folder()
  const journal = openJournal(dir, options)
  // Also longer than one read.
  const long = JSON.stringify({ pad: 'x'.repeat(3_000_000) })
  journal.append('{"a":1}', long, '{"b":2}')
  journal.close()
  const file = segmentPath(dir, 1)
  expect(await readSegment(file, 1000)).toEqual({ records: ['{"a":1}', '{"b":2}'], badLines: 1 })
  expect(await readSegment(file)).toEqual({ records: ['{"a":1}', long, '{"b":2}'], badLines: 0 })
})

test('reads a large segment in many ticks, so that requests go on', async () => {
  const dir = folder()
  const journal = openJournal(dir, options)
  const line = JSON.stringify({ text: 'x'.repeat(1_000) })
  const LINES = 10_000
  for (let at = 0; at < LINES; at += 100) journal.append(...Array.from({ length: 100 }, () => line))
  journal.close()
  let ticks = 0
  const count = (): void => {
    ticks++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const { records } = await readSegment(segmentPath(dir, 1))
  clearImmediate(next)
  expect(records).toHaveLength(LINES)
  // 10 MB are read, checked and decoded in well over 3 ms, a millisecond of each tick.
  expect(ticks).toBeGreaterThan(3)
})
