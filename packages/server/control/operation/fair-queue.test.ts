import { expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

const BOUNDS = { concurrency: 2, maxWaiting: 8 }

/** A queue whose work ends when the test says so. */
function open() {
  const queue = new FairQueue(BOUNDS, () => new Error('full'))
  const started: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  const add = (party: string, name: string): void => {
    const work = (): Promise<void> => {
      started.push(name)
      return new Promise(resolve => void ends.push(resolve))
    }
    queue.run(party, work).catch(() => refused.push(name))
  }
  const settle = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))
  const endOne = async (): Promise<void> => {
    ends.shift()?.()
    await settle()
  }
  return { add, endOne, settle, started, refused }
}

test('runs as many at once as it may, and a party alone has all places', async () => {
  const { add, endOne, settle, started, refused } = open()
  for (let at = 0; at < 11; at++) add('a', `a${at}`)
  await settle()
  expect([started, refused]).toEqual([['a0', 'a1'], ['a10']])
  for (let at = 0; at < 10; at++) await endOne()
  expect(started).toEqual(Array.from({ length: 10 }, (_, at) => `a${at}`))
})

test('gives the lines turns, so that one who comes behind a long line of others is next but one', async () => {
  const { add, endOne, started } = open()
  for (let at = 0; at < 8; at++) add('a', `a${at}`)
  add('b', 'b0')
  for (let at = 0; at < 4; at++) await endOne()
  expect(started).toEqual(['a0', 'a1', 'a2', 'b0', 'a3', 'a4'])
})

test('a full queue takes the last place of the longest line for a shorter one, and refuses the longest', async () => {
  const { add, endOne, settle, started, refused } = open()
  for (let at = 0; at < 10; at++) add(at % 2 === 0 ? 'a' : 'b', `${at % 2 === 0 ? 'a' : 'b'}${at}`)
  add('a', 'a10')
  add('c', 'c11')
  add('c', 'c12')
  add('c', 'c13')
  await settle()
  expect(refused.toSorted()).toEqual(['a10', 'a8', 'b9', 'c13'])
  for (let at = 0; at < 10; at++) await endOne()
  expect(started).toEqual(['a0', 'b1', 'a2', 'b3', 'c11', 'a4', 'b5', 'c12', 'a6', 'b7'])
})

test('passes the place of failed work on', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 1 }, () => new Error('full'))
  const failing = queue.run('a', () => Promise.reject(new Error('broken')))
  const next = queue.run('a', () => Promise.resolve('done'))
  await expect(failing).rejects.toThrow('broken')
  await expect(next).resolves.toBe('done')
  await expect(queue.run('a', () => Promise.resolve('again'))).resolves.toBe('again')
})
