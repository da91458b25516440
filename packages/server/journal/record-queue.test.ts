import { expect, test } from 'vitest'
import type { LineWithRecord, RecordLine } from '../core/records/request-record.ts'
import { LineBatch, RecordQueue } from './record-queue.ts'

const line = (id: string, chars = 10): LineWithRecord => ({
  id,
  at: '',
  json: 'x'.repeat(chars),
  record: undefined,
})

function openQueue(batchSize: number, batchChars: number) {
  const inserted: string[][] = []
  const insert = async (lines: readonly RecordLine[]) => void inserted.push(lines.map(({ id }) => id))
  const queue = new RecordQueue({ openBatch: () => new LineBatch(insert), batchSize, batchChars })
  const add = (...ids: string[]) => {
    for (const id of ids) queue.add(line(id), 1)
  }
  const drain = async () => {
    for (let batch = queue.sealFirst(); batch !== undefined; batch = queue.sealFirst()) {
      await batch.insert(() => true)
      queue.removeFirst()
    }
    return inserted
  }
  return { queue, add, drain }
}

test('fills batches, of which the first is whole once another follows or none fits', async () => {
  const { queue, add, drain } = openQueue(3, 1_000)
  expect(queue.hasWhole()).toBe(false)
  add('a', 'b')
  expect(queue.hasWhole()).toBe(false)
  add('c')
  expect(queue.hasWhole()).toBe(true)
  add('d')
  expect([queue.length, queue.chars, [...queue.listIds()]]).toEqual([4, 40, ['a', 'b', 'c', 'd']])
  expect(await drain()).toEqual([['a', 'b', 'c'], ['d']])
  expect([queue.length, queue.chars, queue.hasWhole()]).toEqual([0, 0, false])
})

test('adds nothing to a batch that is being inserted', async () => {
  const { queue, add, drain } = openQueue(3, 1_000)
  add('a')
  const first = queue.sealFirst()
  add('b')
  expect([first?.ids, queue.length]).toEqual([['a'], 2])
  queue.removeFirst()
  add('c')
  expect(queue.length).toBe(2)
  expect(await drain()).toEqual([['b', 'c']])
})

test('keeps batches below their size in characters, except a single line', async () => {
  const { queue, drain } = openQueue(100, 100)
  for (const [index, chars] of [60, 40, 1, 100, 500, 99, 2].entries()) queue.add(line(`${index}`, chars), 1)
  expect(await drain()).toEqual([['0', '1'], ['2'], ['3'], ['4'], ['5'], ['6']])
})

test('asks for rows of the first 12,000 records only, also after others were removed', () => {
  const kept: boolean[] = []
  const openBatch = () => {
    const batch = new LineBatch(async () => {})
    return Object.assign(batch, {
      add(each: RecordLine, keepsRows: boolean) {
        kept.push(keepsRows)
        LineBatch.prototype.add.call(batch, each)
      },
    })
  }
  const queue = new RecordQueue({ openBatch, batchSize: 500, batchChars: 1e6 })
  for (let i = 0; i < 12_100; i++) queue.add(line(`${i}`), 1)
  expect(kept.lastIndexOf(true)).toBe(11_999)
  queue.removeFirst()
  queue.add(line('more'), 1)
  expect([queue.length, kept.at(-1)]).toEqual([11_601, true])
})
