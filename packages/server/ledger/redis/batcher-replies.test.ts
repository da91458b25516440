import { expect, test } from 'vitest'
import { Batcher } from './batcher.ts'
import type { LedgerCommands } from './commands.ts'

/** What two operations of one call get from a server that gives `runBatch`'s reply. */
function call(runBatch: LedgerCommands['runBatch']): Promise<unknown[]> {
  const batcher = new Batcher({ commands: { runBatch }, owner: 'here', clock: { time: () => '' } })
  return Promise.all(['a', 'b'].map(id => batcher.release('reservations', id).catch(error => error)))
}

/** Packs numbers like the script does. */
function pack(...numbers: number[]): Buffer {
  return Buffer.from(new Float64Array(numbers).buffer)
}

test('each operation gets its own part of a reply', async () => {
  expect(await call(async () => pack(5, 1, 10, 1, 20))).toEqual([
    { now: 5, values: [10] },
    { now: 5, values: [20] },
  ])
})

test('a reply that ends too early fails the operations whose part is missing', async () => {
  expect(await call(async () => pack(5, 1, 10))).toEqual([{ now: 5, values: [10] }, expect.any(RangeError)])
})

test('a call that cannot be made fails all its operations', async () => {
  const broken = new Error('scripted')
  const runBatch = (): never => {
    throw broken
  }
  expect(await call(runBatch)).toEqual([broken, broken])
})
