import { describe, expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import { Drain } from './drain.ts'
import { type Journal, openJournal } from './journal.ts'
import { folderOf, NEVER_MS, record, silent } from './testing/open-drain.ts'

/** Reads that wait for records while one caller makes more than the database stores: only what came before a read delays it. */

const BATCH = 3
/** The inserts after which the flood ends, so that a read that waits for its end fails a test instead of hanging. */
const FLOOD = 100

/** Opens a drain whose memory holds `BATCH` records. `onInsert` is called before each insert, with its number. */
function open(onInsert: (insert: number) => Promise<void> = async () => {}) {
  const folder = folderOf()
  const stored = new Set<string>()
  const written: string[] = []
  const opened = openJournal(folder, { onError: () => {} })
  const state = { failsAfterAppend: false, inserts: 0 }
  const journal: Journal = {
    ...opened,
    append(...lines) {
      const segment = opened.append(...lines)
      if (state.failsAfterAppend) throw new Error('ENOSPC')
      return segment
    },
  }
  const drain: Drain = new Drain({
    ...{ folder, journal, log: silent, batchSize: BATCH, maxQueued: BATCH },
    flushEveryMs: NEVER_MS,
    async insert(records) {
      await onInsert(++state.inserts)
      for (const { id } of records) stored.add(id)
    },
  })
  /** Writes records of one tick. */
  const write = async (...ids: string[]): Promise<void> => {
    written.push(...ids)
    await Promise.all(ids.map(id => drain.write(record(id))))
  }
  return { drain, journal, state, stored, written, write }
}

/** More records than the memory takes, so that a segment has some of them. */
const many = (name: string, count = 3 * BATCH): string[] =>
  Array.from({ length: count }, (_, at) => `${name}${at}`)

/** Opens a drain to which each insert brings more records than it stores. */
function openFlooded() {
  const opened = open(async insert => {
    if (insert <= FLOOD) await opened.write(...many(`flood ${insert} `, 2 * BATCH))
  })
  /** Reads which records count as stored and which as missing. */
  const read = () =>
    opened.drain.afterFlush(async missing => ({
      inserts: opened.state.inserts,
      stored: new Set(opened.stored),
      missing: new Set(missing),
      written: [...opened.written],
    }))
  return { ...opened, read }
}

type Seen = Awaited<ReturnType<ReturnType<typeof openFlooded>['read']>>

function expectEachOnce({ stored, missing, written }: Seen): void {
  expect(written.filter(id => Number(stored.has(id)) + Number(missing.has(id)) !== 1)).toEqual([])
}

describe('while further records overflow the memory all the time', () => {
  test('a read runs once what came before it is stored, and finds each record once, stored or missing', async () => {
    const { drain, write, read, stored } = openFlooded()
    await write(...many('before'))
    const first = await read()
    expect(first.inserts).toBeLessThan(FLOOD / 4)
    expectEachOnce(first)
    expect(many('before').filter(id => !first.stored.has(id))).toEqual([])
    expect(first.missing.size).toBeGreaterThan(BATCH)
    // Its backlog is what the flood has left meanwhile.
    const second = await read()
    expect(second.inserts).toBeLessThan(FLOOD)
    expectEachOnce(second)
    expect([...first.missing].filter(id => !stored.has(id))).toEqual([])
    await drain.close()
  })

  test('a flush resolves too, and so do several reads that came one after another', async () => {
    const { drain, write, read, state, stored } = openFlooded()
    const results: Promise<unknown>[] = []
    const seen: Seen[] = []
    for (const at of [1, 2, 3]) {
      await write(...many(`before ${at} `))
      const reading = read().then(each => {
        seen.push(each)
        for (let earlier = 1; earlier <= at; earlier++)
          expect(many(`before ${earlier} `).filter(id => !each.stored.has(id))).toEqual([])
      })
      const flushing = drain.flush().then(() => {
        expect(state.inserts).toBeLessThan(FLOOD)
        expect(many(`before ${at} `).filter(id => !stored.has(id))).toEqual([])
      })
      results.push(reading, flushing)
    }
    await Promise.all(results)
    expect(seen).toHaveLength(3)
    for (const each of seen) {
      expect(each.inserts).toBeLessThan(FLOOD)
      expectEachOnce(each)
    }
    await drain.close()
  })

  test('records that came while one read waits are stored as well: reads without end hold up none', async () => {
    const { drain, write, read, state, stored } = openFlooded()
    await write(...many('before'))
    let isStored = false
    const reads = async (): Promise<void> => {
      while (!isStored) await read()
    }
    const reading = Promise.all([reads(), reads()])
    await write('between')
    await drain.flush()
    isStored = true
    expect(stored.has('between')).toBe(true)
    expect(state.inserts).toBeLessThan(FLOOD)
    await reading
    await drain.close()
  })
})

test('the segments that a read waits for are stored before what comes later', async () => {
  const opened = open(async insert => {
    if (insert <= FLOOD) await opened.write(`later ${insert}`)
  })
  const { drain, journal, state, stored, write } = opened
  for (const at of [1, 2, 3, 4]) {
    await write(...many(`before ${at} `))
    journal.rotate()
  }
  await write(...many('last'))
  // Until the memory is stored, what comes goes to the segment of the last ones.
  const { inserts, missing } = await drain.afterFlush(async ids => ({
    inserts: state.inserts,
    missing: new Set(ids),
  }))
  expect(many('last').filter(id => !stored.has(id))).toEqual([])
  const later = Array.from({ length: inserts - 1 }, (_, at) => `later ${at + 2}`)
  expect(missing).toEqual(new Set(later))
  await drain.close()
})

test('a record that is written in the tick in which a read runs is missing in it', async () => {
  // One of these numbers of microtasks ends right before the read.
  for (let microtasks = 0; microtasks < 40; microtasks++) {
    const opened = open(async insert => {
      if (insert === 1) void writeLate()
    })
    const writeLate = async (): Promise<void> => {
      for (let at = 0; at < microtasks; at++) await undefined
      await opened.write('late')
    }
    const { drain, write, stored, written } = opened
    await write('before')
    await drain.afterFlush(async missing =>
      expect(written.filter(id => Number(stored.has(id)) + Number(missing.has(id)) !== 1)).toEqual([]),
    )
    await drain.close()
  }
})

test('a segment that failed when it was half stored delays the next read until it is stored', async () => {
  const failing = { at: Number.POSITIVE_INFINITY }
  const { drain, write, state, stored, written } = open(async insert => {
    if (insert === failing.at) throw new Error('the database is unavailable')
  })
  await write(...many('a', 6 * BATCH))
  // The first insert is of the memory, the next ones are of the segment, which has that too.
  failing.at = 4
  await expect(drain.afterFlush(async () => {})).rejects.toThrow('unavailable')
  expect(state.inserts).toBe(4)
  expect(stored.size).toBeLessThan(written.length)
  const half = stored.size
  await write(...many('b'))
  const read = drain.afterFlush(async missing => ({ stored: new Set(stored), missing: new Set(missing) }))
  await write('c')
  const seen = await read
  expect(half).toBe(2 * BATCH)
  expect(seen.stored.size + seen.missing.size).toBe(written.length)
  expect(new Set([...seen.stored, ...seen.missing])).toEqual(new Set(written))
  expect([...seen.missing].filter(id => id !== 'c')).toEqual([])
  await drain.close()
})

test('a record that is in memory and, torn from its batch, in a segment too is not both stored and missing', async () => {
  const { drain, state, stored, write } = open()
  await write(...many('a'))
  const read = drain.afterFlush(async missing => ({ stored: new Set(stored), missing: new Set(missing) }))
  // Its line is in the segment, but the write fails after it.
  state.failsAfterAppend = true
  await drain.write({ id: 'late', status: 200, attempts: [{}] } as unknown as RequestRecord)
  state.failsAfterAppend = false
  const seen = await read
  expect([...seen.stored].filter(id => seen.missing.has(id))).toEqual([])
  expect(new Set([...seen.stored, ...seen.missing])).toEqual(new Set([...many('a'), 'late']))
  await drain.close()
})
