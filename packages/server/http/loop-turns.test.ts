import { expect, test } from 'vitest'
import { LoopTurns, type TurnTaker } from './loop-turns.ts'

function ownerOf(name: string) {
  return { environment: { orgId: name, id: name }, caller: { keyId: name }, endUser: undefined }
}

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Work that blocks for so long, and logs its turn. */
function takerOf(name: string, log: string[], blockMs: number): TurnTaker {
  return {
    owner: ownerOf(name),
    origin: '',
    takeTurn() {
      block(blockMs)
      log.push(name)
      return false
    },
  }
}

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Notes requests of two credentials. */
function share(turns: LoopTurns): void {
  turns.noteCaller('a', performance.now())
  turns.noteCaller('b', performance.now())
}

test('has no time left after long work, until the next tick', async () => {
  const turns = new LoopTurns()
  expect(turns.isSpent).toBe(false)
  turns.spend(4)
  expect(turns.isSpent).toBe(true)
  await nextTick()
  expect(turns.isSpent).toBe(false)
})

test('gives one long turn a tick, and other work of the event loop runs between any two', async () => {
  const turns = new LoopTurns()
  const log: string[] = []
  for (let at = 0; at < 5; at++) turns.wait(takerOf('a', log, 5))
  while (log.filter(name => name === 'a').length < 5) {
    await nextTick()
    log.push('other')
  }
  for (let at = 1; at < log.length; at++) if (log[at] === 'a') expect(log[at - 1]).toBe('other')
})

test('gives an organization with one work its turn before the second of another that has a hundred', async () => {
  const turns = new LoopTurns()
  const log: string[] = []
  for (let at = 0; at < 100; at++) turns.wait(takerOf('many', log, 0))
  turns.wait(takerOf('one', log, 0))
  while (log.length < 101) await nextTick()
  expect(log.slice(0, 2).sort()).toEqual(['many', 'one'])
})

test('rests for twice the time that long work took while several credentials send requests', async () => {
  const turns = new LoopTurns()
  const log: string[] = []
  const times: number[] = []
  const taker: TurnTaker = {
    owner: ownerOf('a'),
    origin: '',
    takeTurn() {
      times.push(performance.now())
      share(turns)
      block(10)
      if (times.length < 4) turns.wait(taker)
      return true
    },
  }
  share(turns)
  turns.wait(taker)
  while (times.length < 4) await nextTick()
  for (let at = 1; at < times.length; at++) {
    // 10 ms of work and 20 ms of rest, less what a timer rounds.
    expect((times[at] as number) - (times[at - 1] as number)).toBeGreaterThan(28)
  }
  expect(log).toEqual([])
})

test('work without a turn has no time left during the rest', async () => {
  const turns = new LoopTurns()
  share(turns)
  turns.spend(100)
  await nextTick()
  await nextTick()
  expect(turns.isSpent).toBe(true)
})

test('saves up the rests of short work', async () => {
  const turns = new LoopTurns()
  for (let spentMs = 0, isSpent = false; !isSpent; spentMs += 0.1) {
    share(turns)
    turns.spend(0.1)
    await nextTick()
    isSpent = turns.isSpent
    expect(spentMs).toBeLessThan(100)
  }
})

test('rests for a moment only, however long something took', async () => {
  const turns = new LoopTurns()
  share(turns)
  turns.spend(1e9)
  await nextTick()
  const log: string[] = []
  turns.wait(takerOf('a', log, 0))
  share(turns)
  await expect.poll(() => log).toEqual(['a'])
})

test('does not rest for a credential alone, nor once the others have been silent for a while', async () => {
  const alone = new LoopTurns()
  for (let count = 0; count < 3; count++) alone.noteCaller('a', performance.now())
  alone.spend(50)
  await nextTick()
  expect(alone.isSpent).toBe(false)
  const silent = new LoopTurns()
  silent.noteCaller('b', performance.now() - 251)
  silent.noteCaller('a', performance.now())
  silent.spend(50)
  await nextTick()
  expect(silent.isSpent).toBe(false)
})

test('forgets work that is withdrawn, and gives the others their turns', async () => {
  const turns = new LoopTurns()
  const log: string[] = []
  const gone = takerOf('gone', log, 0)
  turns.wait(gone)
  turns.wait(takerOf('stays', log, 0))
  turns.withdraw(gone)
  turns.withdraw(gone)
  await expect.poll(() => log).toEqual(['stays'])
  await nextTick()
  expect(log).toEqual(['stays'])
})

test('goes on with the others after an exception of one', async () => {
  const turns = new LoopTurns()
  const log: string[] = []
  const caught: unknown[] = []
  const onException = (error: unknown): void => void caught.push(error)
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').once('uncaughtException', onException)
  try {
    turns.wait({
      owner: ownerOf('broken'),
      origin: '',
      takeTurn() {
        throw new Error('broken')
      },
    })
    turns.wait(takerOf('other', log, 0))
    await expect.poll(() => log).toEqual(['other'])
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const listener of listeners) process.on('uncaughtException', listener)
  }
  expect(caught).toEqual([new Error('broken')])
})
