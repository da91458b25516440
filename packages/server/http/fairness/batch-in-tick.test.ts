import { expect, test } from 'vitest'
import { batchInTick } from './batch-in-tick.ts'

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('runs the tasks of one tick after it, together and in order, and the tasks that they add in the next tick', async () => {
  const seen: string[] = []
  const noError = (error: unknown): never => expect.unreachable(String(error))
  batchInTick(() => {
    seen.push('a')
    batchInTick(() => seen.push('next tick'), noError)
  }, noError)
  batchInTick(() => seen.push('b'), noError)
  await Promise.resolve()
  expect(seen).toEqual([])
  await nextTick()
  expect(seen).toEqual(['a', 'b'])
  await nextTick()
  expect(seen).toEqual(['a', 'b', 'next tick'])
})

test('passes an exception to the handler of the task that threw it, and runs the other tasks', async () => {
  const seen: string[] = []
  const handled: unknown[] = []
  const broken = new Error('broken')
  batchInTick(
    () => {
      throw broken
    },
    error => handled.push(error),
  )
  batchInTick(
    () => seen.push('other'),
    error => handled.push(error),
  )
  await nextTick()
  expect([seen, handled]).toEqual([['other'], [broken]])
})

test('runs the other tasks and raises uncaughtException when a task’s handler throws too', async () => {
  const seen: string[] = []
  const inherited = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  const uncaught = new Promise<Error>(resolve => process.once('uncaughtException', resolve))
  try {
    const throwing = (): never => {
      throw new Error('broken')
    }
    batchInTick(throwing, throwing)
    batchInTick(() => seen.push('other'), throwing)
    await expect(uncaught).resolves.toMatchObject({ message: 'broken' })
    expect(seen).toEqual(['other'])
  } finally {
    for (const listener of inherited) process.on('uncaughtException', listener)
  }
})

test('leaves tasks that take long together to the next ticks, in order', async () => {
  const seen: [name: string, tick: number][] = []
  let tick = 0
  const noError = (error: unknown): never => expect.unreachable(String(error))
  const work = (name: string) => (): void => {
    seen.push([name, tick])
    for (const until = performance.now() + 5; performance.now() < until; );
  }
  batchInTick(() => {
    work('a')()
    batchInTick(work('d'), noError)
  }, noError)
  batchInTick(work('b'), noError)
  batchInTick(work('c'), noError)
  while (seen.length < 4) {
    await nextTick()
    tick++
  }
  expect(seen).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
    ['d', 3],
  ])
})
