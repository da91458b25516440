import { expect, test } from 'vitest'
import { OwnerLines } from './owner-lines.ts'

const open = (maxOfOne = 10, max = 20) =>
  new OwnerLines<string>({ maxOfOne, max, merge: (earlier, later) => `${earlier}, then ${later}` })

/** Handles all items, of which those that begin with one of `failing` fail. Returns them in the order of their turns. */
async function drain(lines: OwnerLines<string>, failing: string[] = [], whileFailing = () => {}) {
  const handled: string[] = []
  const failures: string[] = []
  await lines.drain(
    async item => {
      handled.push(item)
      if (!failing.some(start => item.startsWith(start))) return
      whileFailing()
      throw new Error(item)
    },
    (error, owner) => void failures.push(`${owner}: ${(error as Error).message}`),
  )
  return { handled, failures }
}

test('owners take turns, whoever has the most', async () => {
  const lines = open()
  for (const key of ['a1', 'a2', 'a3']) lines.add('a', key, key)
  for (const key of ['b1', 'b2']) lines.add('b', key, key)
  lines.add('c', 'c1', 'c1')
  expect((await drain(lines)).handled).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(lines.size).toBe(0)
  expect((await drain(lines)).handled).toEqual([])
})

test('an item of a known key is merged and keeps its place', async () => {
  const lines = open()
  lines.add('a', '1', 'first')
  lines.add('a', '2', 'other')
  lines.add('a', '1', 'second')
  expect(lines.size).toBe(2)
  expect((await drain(lines)).handled).toEqual(['first, then second', 'other'])
})

test('drops what is above the bound of its owner or of all, but merges what is known', () => {
  const lines = open(2, 3)
  const add = (owner: string, key: string) => lines.add(owner, key, key)
  expect([add('a', '1'), add('a', '2'), add('a', '3'), add('a', '2')]).toEqual([true, true, false, true])
  expect([add('b', '1'), add('b', '2'), add('c', '1')]).toEqual([true, false, false])
  expect(lines.size).toBe(3)
})

test('the line of an owner whose item fails waits for the next drain, where that item comes last', async () => {
  const lines = open()
  for (const key of ['a1', 'a2']) lines.add('a', key, key)
  for (const key of ['b1', 'b2']) lines.add('b', key, key)
  expect(await drain(lines, ['a1'])).toEqual({ handled: ['a1', 'b1', 'b2'], failures: ['a: a1'] })
  expect(lines.size).toBe(2)
  expect(await drain(lines, ['a1'])).toEqual({ handled: ['a2', 'a1'], failures: ['a: a1'] })
  expect((await drain(lines)).handled).toEqual(['a1'])
})

test('an item that fails is merged with what came meanwhile', async () => {
  const lines = open()
  lines.add('a', '1', 'old')
  await drain(lines, ['old'], () => lines.add('a', '1', 'new'))
  expect(lines.size).toBe(1)
  expect((await drain(lines)).handled).toEqual(['old, then new'])
})

test('a drain in which eight owners fail ends, and the next one begins with the others', async () => {
  const lines = open()
  for (let n = 0; n < 10; n++) lines.add(`owner ${n}`, 'k', `bad ${n}`)
  lines.add('other', 'k', 'good')
  expect((await drain(lines, ['bad'])).failures).toHaveLength(8)
  const { handled } = await drain(lines, ['bad'])
  expect(handled.slice(0, 3)).toEqual(['bad 8', 'bad 9', 'good'])
  expect(lines.size).toBe(10)
})
