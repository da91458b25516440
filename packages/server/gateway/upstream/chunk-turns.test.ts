import { expect, test } from 'vitest'
import { ChunkTurns } from './chunk-turns.ts'

const ORIGIN = 'https://a.example'

function ownerOf(name: string) {
  return { environment: { orgId: name, id: name }, caller: { keyId: name }, endUser: undefined }
}

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** A call whose chunk takes so long, and which logs its turn. */
function callOf(name: string, log: string[], blockMs: number) {
  return {
    owner: ownerOf(name),
    origin: ORIGIN,
    processChunk() {
      block(blockMs)
      log.push(name)
    },
  }
}

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('has no time left after a long chunk, until the next tick', async () => {
  const turns = new ChunkTurns()
  expect(turns.isSpent).toBe(false)
  turns.spend(4)
  expect(turns.isSpent).toBe(true)
  await nextTick()
  expect(turns.isSpent).toBe(false)
})

test('processes one long chunk a tick, and other work of the event loop between any two', async () => {
  const turns = new ChunkTurns()
  const log: string[] = []
  for (let at = 0; at < 5; at++) turns.wait(callOf('a', log, 5))
  while (log.filter(name => name === 'a').length < 5) {
    await nextTick()
    log.push('other')
  }
  for (let at = 1; at < log.length; at++) if (log[at] === 'a') expect(log[at - 1]).toBe('other')
})

test('serves an organization with one chunk before the second chunk of another that has a hundred', async () => {
  const turns = new ChunkTurns()
  const log: string[] = []
  for (let at = 0; at < 100; at++) turns.wait(callOf('many', log, 0))
  turns.wait(callOf('one', log, 0))
  while (log.length < 101) await nextTick()
  expect(log.slice(0, 2).sort()).toEqual(['many', 'one'])
})

test('forgets a call that is withdrawn, and processes the others', async () => {
  const turns = new ChunkTurns()
  const log: string[] = []
  const gone = callOf('gone', log, 0)
  turns.wait(gone)
  turns.wait(callOf('stays', log, 0))
  turns.withdraw(gone)
  turns.withdraw(gone)
  await expect.poll(() => log).toEqual(['stays'])
  expect(log).toEqual(['stays'])
})

test('goes on with the others after an exception of one call', () => {
  const turns = new ChunkTurns()
  const log: string[] = []
  const broken = {
    owner: ownerOf('broken'),
    origin: ORIGIN,
    processChunk() {
      throw new Error('broken')
    },
  }
  turns.wait(broken)
  turns.wait(callOf('other', log, 0))
  expect(() => turns.startTick()).toThrow('broken')
  turns.startTick()
  expect(log).toEqual(['other'])
})
