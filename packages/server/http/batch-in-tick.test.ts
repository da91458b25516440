import { expect, test } from 'vitest'
import { batchInTick } from './batch-in-tick.ts'

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('what was put off in one turn runs behind it, together and in order; what that puts off runs in the next', async () => {
  const seen: string[] = []
  const noError = (error: unknown): never => expect.unreachable(String(error))
  batchInTick(() => {
    seen.push('a')
    batchInTick(() => seen.push('next turn'), noError)
  }, noError)
  batchInTick(() => seen.push('b'), noError)
  await Promise.resolve()
  expect(seen).toEqual([])
  await nextTurn()
  expect(seen).toEqual(['a', 'b'])
  await nextTurn()
  expect(seen).toEqual(['a', 'b', 'next turn'])
})

test('gives what a task throws to that task’s own handler, and runs the others', async () => {
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
  await nextTurn()
  expect([seen, handled]).toEqual([['other'], [broken]])
})

test('runs the others where a task’s handler throws too, and leaves that to the process’s handler', async () => {
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
