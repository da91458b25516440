import { expect, test } from 'vitest'
import type { WorkOwner } from './loop-turns.ts'
import { countRefused, runInSlices, runSteps, takeTurn } from './sliced-work.ts'

const never = (): boolean => false

/** Work of `steps` steps that logs each step, which blocks for `blockMs`. */
function workOf(name: string, steps: number, log: string[], blockMs = 10) {
  let left = steps
  return {
    step() {
      log.push(name)
      const until = performance.now() + blockMs
      while (performance.now() < until);
      return --left === 0
    },
  }
}

test('runs one slice of each work in rotation, and other tasks of the event loop between any two slices', async () => {
  const log: string[] = []
  let isOver = false
  const others = (): void => {
    log.push('other')
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  await Promise.all(['a', 'b', 'c'].map(name => runInSlices(workOf(name, 3, log), never)))
  isOver = true
  const works = log.filter(name => name !== 'other')
  expect(works).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
  for (let at = 1; at < log.length; at++) {
    // Never two slices in one tick of the event loop.
    if (log[at] !== 'other') expect(log[at - 1]).toBe('other')
  }
})

test('runs many short steps in one slice', async () => {
  const firstSlices: number[] = []
  for (let again = 0; again < 10; again++) {
    const log: string[] = []
    const works = [workOf('a', 1_000, log, 0), workOf('b', 1, log, 0)]
    await Promise.all(works.map(work => runInSlices(work, never)))
    expect(log).toHaveLength(1_001)
    // The second work has its only step after the first one's first slice.
    firstSlices.push(log.indexOf('b'))
  }
  // The longest of ten: other work of this machine can end a slice early.
  expect(Math.max(...firstSlices)).toBeGreaterThan(10)
})

test('gives up work that is no longer wanted, and continues the other work', async () => {
  const log: string[] = []
  const unwanted = runInSlices(workOf('a', 100, log), () => log.filter(name => name === 'a').length >= 2)
  const wanted = runInSlices(workOf('b', 5, log), never)
  await Promise.all([unwanted, wanted])
  expect(log.filter(name => name === 'a')).toHaveLength(2)
  expect(log.filter(name => name === 'b')).toHaveLength(5)
})

test('rejects steps with the reason to stop, and takes none of those that are left', async () => {
  let stop: Error | undefined
  let taken = 0
  function* steps(): Generator<void, string> {
    while (taken < 100) {
      if (++taken === 2) stop = new Error('the caller is gone')
      yield
    }
    return 'whole'
  }
  await expect(runSteps(steps(), undefined, () => stop)).rejects.toThrow('the caller is gone')
  expect(taken).toBe(2)
})

test('rejects only the work whose step throws', async () => {
  const log: string[] = []
  const broken = {
    step(): boolean {
      throw new Error('broken')
    },
  }
  const results = await Promise.allSettled([
    runInSlices(broken, never),
    runInSlices(workOf('a', 2, log), never),
    runInSlices(broken, never),
    runInSlices(workOf('b', 2, log), never),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(log.sort()).toEqual(['a', 'a', 'b', 'b'])
})

test('serves an owner with one long body before the second slice of another with many', async () => {
  const log: string[] = []
  const ownerOf = (id: string) => ({
    environment: { orgId: id, id },
    caller: { keyId: id },
    endUser: undefined,
  })
  const many = Array.from({ length: 10 }, () => runInSlices(workOf('many', 3, log), never, ownerOf('many')))
  const one = runInSlices(workOf('one', 3, log), never, ownerOf('one'))
  await Promise.all([...many, one])
  expect(log.lastIndexOf('one')).toBeLessThan(6)
})

test('a turn resolves in a tick in which no other long work is done', async () => {
  const log: string[] = []
  let isOver = false
  const others = (): void => {
    log.push('other')
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  const works = ['a', 'b'].map(name => runInSlices(workOf(name, 2, log), never))
  await takeTurn()
  log.push('turn')
  await Promise.all(works)
  isOver = true
  const at = log.indexOf('turn')
  expect([log[at - 1], log[at + 1]]).toEqual(['other', 'other'])
})

test('the long work of a caller begins later after refused long work, and that of others does not', async () => {
  const requestOf = (id: string): WorkOwner => ({
    environment: { orgId: id, id },
    caller: { keyId: id },
    endUser: undefined,
  })
  const refused = requestOf('refused')
  await runInSlices(workOf('refused', 3, []), never, refused)
  await new Promise(resolve => setImmediate(resolve))
  countRefused(refused)
  const log: string[] = []
  const later = requestOf('refused')
  const waiting = runInSlices(workOf('later', 1, log), never, later)
  // 20 times 30 ms are left to do this, which takes 50.
  for (let at = 0; at < 5; at++) await runInSlices(workOf('other', 1, log), never, requestOf('other'))
  await waiting
  // The same request waits once.
  const again = runInSlices(workOf('again', 1, log), never, later)
  await runInSlices(workOf('other', 1, log), never, requestOf('other'))
  await again
  expect(log).toEqual(['other', 'other', 'other', 'other', 'other', 'later', 'again', 'other'])
})
