import { expect, test } from 'vitest'
import type { LedgerCommands } from './commands.ts'
import { Turns } from './turns.ts'

/** A server that gives `reply` to every call. */
function ask(turn: LedgerCommands['turn']): Promise<unknown[]> {
  const turns = new Turns({ commands: { turn }, owner: 'here', time: () => '' })
  return Promise.all(
    [turns.release('holds', 'a'), turns.release('holds', 'b')].map(each => each.catch(error => error)),
  )
}

/** As the script packs numbers. */
function pack(...numbers: number[]): Buffer {
  return Buffer.from(new Float64Array(numbers).buffer)
}

test('each gets its own part of a reply', async () => {
  expect(await ask(async () => pack(5, 1, 10, 1, 20))).toEqual([
    { now: 5, values: [10] },
    { now: 5, values: [20] },
  ])
})

test('a reply that cannot be read whole fails those that got nothing of it', async () => {
  expect(await ask(async () => pack(5, 1, 10))).toEqual([{ now: 5, values: [10] }, expect.any(RangeError)])
})

test('a call that cannot be made fails all', async () => {
  const broken = new Error('scripted')
  const turn = (): never => {
    throw broken
  }
  expect(await ask(turn)).toEqual([broken, broken])
})
