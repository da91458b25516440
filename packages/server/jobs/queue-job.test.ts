import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { QueueRoom } from '../core/queue-room.ts'
import { QueueJob } from './queue-job.ts'

interface Item {
  readonly org_id: string
  readonly name: string
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A job of four places, with a queue that hands out what is due, and items that run until they are ended. */
function open() {
  const due: Item[] = []
  const started: string[] = []
  const rooms: QueueRoom[] = []
  const errors: unknown[] = []
  const running = new Map<string, () => void>()
  const job = new QueueJob<Item>({
    most: 4,
    ofOrganization: 3,
    everyMs: 2_000,
    claim: async room => {
      rooms.push({ ...room, running: new Map(room.running) })
      return due.splice(0, room.limit)
    },
    run: ({ name }) => {
      started.push(name)
      return new Promise(resolve => running.set(name, resolve))
    },
    onError: error => errors.push(error),
    now: () => Date.now(),
  })
  const add = (orgId: string, ...names: string[]): void => {
    due.push(...names.map(name => ({ org_id: orgId, name })))
  }
  const end = async (...names: string[]): Promise<void> => {
    for (const name of names) running.get(name)?.()
    await vi.advanceTimersByTimeAsync(50)
  }
  return { job, add, end, started, rooms, errors }
}

test('items whose hosts do not answer delay no item that becomes due meanwhile', async () => {
  const { add, started } = open()
  add('slow', 'a', 'b')
  await vi.advanceTimersByTimeAsync(2_000)
  add('other', 'c')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(started).toEqual(['a', 'b', 'c'])
})

test('fills each place again once its item has ended, with one claim for those that end together', async () => {
  const { add, end, started, rooms } = open()
  add('a', '1', '2', '3', '4', '5', '6', '7')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(started).toEqual(['1', '2', '3', '4'])
  const claims = rooms.length
  await end('2', '4')
  expect(started).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(rooms.slice(claims)).toEqual([
    { limit: 2, slowLimit: 2, slowShare: 0, slow: [], ofOrganization: 3, running: new Map([['a', 2]]) },
  ])
})

test('places that are given away while the queue is read are filled by a further claim', async () => {
  const limits: number[] = []
  const ends: (() => void)[] = []
  let answer: (items: readonly Item[]) => void = () => {}
  const job = new QueueJob<Item>({
    most: 4,
    ofOrganization: 4,
    everyMs: 2_000,
    claim: ({ limit }) => {
      limits.push(limit)
      return new Promise(resolve => {
        answer = resolve
      })
    },
    run: () => new Promise(resolve => ends.push(resolve)),
    onError: error => expect.unreachable(String(error)),
  })
  await vi.advanceTimersByTimeAsync(0)
  answer(['1', '2', '3'].map(name => ({ org_id: 'a', name })))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(limits).toEqual([4, 1])
  for (const end of ends) end()
  await vi.advanceTimersByTimeAsync(50)
  expect(limits).toEqual([4, 1])
  answer([])
  await vi.advanceTimersByTimeAsync(0)
  expect(limits).toEqual([4, 1, 4])
  answer([])
  await job.close()
})

test('what a claim may take is as it was when the claim began, though items end while the queue is read', async () => {
  const seen: [before: number, after: number][] = []
  const ends: (() => void)[] = []
  let answer: (() => void) | undefined
  const job = new QueueJob<Item>({
    most: 4,
    ofOrganization: 4,
    everyMs: 2_000,
    claim: async ({ running }) => {
      const before = running.get('a') ?? 0
      await new Promise<void>(resolve => {
        answer = resolve
      })
      seen.push([before, running.get('a') ?? 0])
      return seen.length === 1 ? ['1', '2', '3'].map(name => ({ org_id: 'a', name })) : []
    },
    run: () => new Promise(resolve => ends.push(resolve)),
    onError: error => expect.unreachable(String(error)),
  })
  await vi.advanceTimersByTimeAsync(0)
  answer?.()
  await vi.advanceTimersByTimeAsync(2_000)
  for (const end of ends) end()
  await vi.advanceTimersByTimeAsync(0)
  answer?.()
  await vi.advanceTimersByTimeAsync(0)
  expect(seen).toEqual([
    [0, 0],
    [3, 3],
  ])
  await job.close()
})

test('an organization is slow for ten minutes after a host of it took two seconds, and gets half of the places', async () => {
  const { add, end, rooms } = open()
  add('slow', '1')
  add('fast', '2')
  await vi.advanceTimersByTimeAsync(2_000)
  await end('2')
  await vi.advanceTimersByTimeAsync(2_000)
  add('slow', '3')
  await end('1')
  expect(rooms.at(-1)).toMatchObject({ limit: 4, slow: ['slow'], slowLimit: 2 })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(rooms.at(-1)).toMatchObject({ limit: 3, slow: ['slow'], slowLimit: 1 })
  await vi.advanceTimersByTimeAsync(600_000)
  expect(rooms.at(-1)).toMatchObject({ limit: 3, slow: [] })
})

test('a claim that fails is reported and made again', async () => {
  vi.useFakeTimers()
  const errors: unknown[] = []
  let claims = 0
  const job = new QueueJob({
    most: 1,
    ofOrganization: 1,
    everyMs: 2_000,
    claim: async () => {
      if (++claims === 1) throw new Error('no database')
      return []
    },
    run: async () => {},
    onError: error => errors.push(error),
  })
  await vi.advanceTimersByTimeAsync(2_000)
  expect([claims, errors]).toEqual([2, [new Error('no database')]])
  await job.close()
})

test('a job that closes claims nothing more and waits for what runs', async () => {
  const { job, add, end, started } = open()
  add('a', '1')
  await vi.advanceTimersByTimeAsync(2_000)
  add('a', '2')
  let isClosed = false
  const closing = job.close().then(() => {
    isClosed = true
  })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(isClosed).toBe(false)
  await end('1')
  await closing
  expect(started).toEqual(['1'])
})
