import { expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import { WaitingRefusals } from './waiting-refusals.ts'

const record = (id: number): RequestRecord => ({ id: String(id) }) as unknown as RequestRecord

/** Keeps the event loop for longer than the time of one tick. */
function spin(): void {
  const until = performance.now() + 2
  while (performance.now() < until);
}

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('writes a flood in parts of a tick each, and resolves each record once it is written', async () => {
  const written: string[] = []
  const refusals = new WaitingRefusals(records => {
    written.push(...records.map(({ id }) => id))
    spin()
  })
  const resolved: number[] = []
  for (let id = 0; id < 24; id++) void refusals.add(record(id)).then(() => resolved.push(id))
  const counts: [number, number][] = []
  await Promise.resolve()
  for (let tick = 0; tick < 4; tick++) {
    await nextTick()
    counts.push([written.length, resolved.length])
  }
  expect(counts[0]?.[0]).toBeLessThan(24)
  expect(counts.map(([now]) => now)).toEqual(counts.map(([, now]) => now))
  expect(written).toEqual(Array.from({ length: 24 }, (_, id) => String(id)))
  expect(resolved).toEqual(Array.from({ length: 24 }, (_, id) => id))
})

test('writes all at once at the end', async () => {
  const written: string[] = []
  const refusals = new WaitingRefusals(records => {
    written.push(...records.map(({ id }) => id))
    spin()
  })
  const all = Promise.all(Array.from({ length: 20 }, (_, id) => refusals.add(record(id))))
  refusals.writeAll()
  expect(written).toHaveLength(20)
  await all
})

test('rejects what could not be written, and goes on with the others', async () => {
  const refusals = new WaitingRefusals(records => {
    if (records.some(({ id }) => id === '3')) throw new Error('not written')
  })
  const results = await Promise.allSettled(Array.from({ length: 16 }, (_, id) => refusals.add(record(id))))
  expect(results.map(({ status }) => status)).toEqual([
    ...Array<string>(8).fill('rejected'),
    ...Array<string>(8).fill('fulfilled'),
  ])
})
