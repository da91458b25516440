import { expect, test } from 'vitest'
import type { CallerId, ShareOwner } from '../../core/admission/connection-shares.ts'
import { LoopTurns, type TurnTaker } from './loop-turns.ts'

function ownerOf(name: string) {
  return { environment: { orgId: name, id: name }, caller: { keyId: name }, endUser: undefined }
}

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Work that blocks for `blockMs` milliseconds and logs its turn. */
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

const keyOf = (name: string): CallerId => ({ keyId: name, endUser: null })
const tokenOf = (name: string, endUserId: string): CallerId => ({ keyId: name, endUser: { id: endUserId } })

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Notes requests of two credentials. */
function share(turns: LoopTurns): void {
  turns.noteRequest(keyOf('a'), performance.now())
  turns.noteRequest(keyOf('b'), performance.now())
}

test('has no time left after long work, until the next tick', async () => {
  const turns = new LoopTurns()
  expect(turns.isSpent).toBe(false)
  turns.spend(4, ownerOf('a'))
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
  turns.spend(100, ownerOf('a'))
  await nextTick()
  await nextTick()
  expect(turns.isSpent).toBe(true)
})

test('saves up the rests of short work', async () => {
  const turns = new LoopTurns()
  for (let spentMs = 0, isSpent = false; !isSpent; spentMs += 0.1) {
    share(turns)
    turns.spend(0.1, ownerOf('a'))
    await nextTick()
    isSpent = turns.isSpent
    expect(spentMs).toBeLessThan(100)
  }
})

test('rests for a moment only, however long something took', async () => {
  const turns = new LoopTurns()
  share(turns)
  turns.spend(1e9, ownerOf('a'))
  await nextTick()
  const log: string[] = []
  turns.wait(takerOf('a', log, 0))
  share(turns)
  await expect.poll(() => log).toEqual(['a'])
})

/** Whether long work of the owner is followed by a rest, after requests of these senders. */
async function restsAfter(owner: ShareOwner, ...senders: readonly (readonly [CallerId, silentMs: number])[]) {
  const turns = new LoopTurns()
  for (const [sender, silentMs] of senders) turns.noteRequest(sender, performance.now() - silentMs)
  turns.spend(50, owner)
  await nextTick()
  return turns.isSpent
}

test('does not rest for its own sender alone, nor once the others have been silent for a while', async () => {
  const own = [keyOf('a'), 0] as const
  expect(await restsAfter(ownerOf('a'), own, own)).toBe(false)
  expect(await restsAfter(ownerOf('a'), [keyOf('b'), 251], own)).toBe(false)
  expect(await restsAfter(ownerOf('a'))).toBe(false)
})

test('rests for another sender while the owner of the long work sends no requests', async () => {
  expect(await restsAfter(ownerOf('a'), [keyOf('b'), 0])).toBe(true)
  expect(await restsAfter(ownerOf('a'), [keyOf('a'), 1000], [keyOf('b'), 100])).toBe(true)
  expect(await restsAfter(ownerOf('a'), [keyOf('b'), 100], [keyOf('a'), 0])).toBe(true)
})

test('takes a key and each end user with a token of it for different senders', async () => {
  const work = { ...ownerOf('a'), caller: tokenOf('a', 'one'), endUser: { id: 'one' } }
  expect(await restsAfter(work, [tokenOf('a', 'one'), 0])).toBe(false)
  expect(await restsAfter(work, [tokenOf('a', 'two'), 0])).toBe(true)
  expect(await restsAfter(work, [keyOf('a'), 0])).toBe(true)
})

test('rests for the other of two identities of one key, whichever made others be forgotten', async () => {
  const work = { ...ownerOf('a'), caller: tokenOf('a', 'one'), endUser: { id: 'one' } }
  const senders = [keyOf('honest'), keyOf('a'), tokenOf('a', 'one')].map(sender => [sender, 0] as const)
  expect(await restsAfter(work, ...senders)).toBe(true)
})

test('does not rest for a key alone that names several end users', async () => {
  const turns = new LoopTurns()
  turns.noteRequest(keyOf('a'), performance.now())
  for (const id of ['one', 'two']) turns.spend(25, { ...ownerOf('a'), endUser: { id } })
  turns.spend(25, ownerOf('a'))
  await nextTick()
  expect(turns.isSpent).toBe(false)
})

test('rests for a sender with long work of its own while others have long work too', async () => {
  const turns = new LoopTurns()
  turns.noteRequest(keyOf('a'), performance.now())
  for (const name of ['a', 'b']) turns.spend(25, ownerOf(name))
  await nextTick()
  expect(turns.isSpent).toBe(true)
})

test('rests longer after late ticks', async () => {
  const turns = new LoopTurns()
  const rests: number[] = []
  let endedAt = 0
  const taker: TurnTaker = {
    owner: ownerOf('a'),
    origin: '',
    takeTurn() {
      if (endedAt > 0) rests.push(performance.now() - endedAt)
      share(turns)
      block(2)
      endedAt = performance.now()
      turns.wait(taker)
      return true
    },
  }
  share(turns)
  turns.wait(taker)
  // Longer than any rest, so that the timer of each is late.
  while (rests.length < 12) {
    await nextTick()
    block(30)
  }
  turns.withdraw(taker)
  rests.length = 0
  turns.wait(taker)
  while (rests.length < 3) await nextTick()
  turns.withdraw(taker)
  // 4 ms without late ticks, 14 to 16 with them. A busy machine makes it longer.
  expect(Math.min(...rests.slice(1))).toBeGreaterThan(10)
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
