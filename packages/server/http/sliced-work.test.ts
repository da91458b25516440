import { expect, test } from 'vitest'
import { runInSlices } from './sliced-work.ts'

const never = (): boolean => false

/** Work of so many steps that writes down when each of them ran, and holds on for its time. */
function workOf(name: string, steps: number, log: string[], holdMs = 10) {
  let left = steps
  return {
    step() {
      log.push(name)
      const until = performance.now() + holdMs
      while (performance.now() < until);
      return --left === 0
    },
  }
}

test('works that are too long for one turn take turns, with everybody else in between', async () => {
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
    // Never two slices in one turn of the event loop.
    if (log[at] !== 'other') expect(log[at - 1]).toBe('other')
  }
})

test('short steps share a slice', async () => {
  const log: string[] = []
  let turns = 0
  const count = (): void => {
    turns++
    if (log.length < 1_000) setImmediate(count)
  }
  setImmediate(count)
  await runInSlices(workOf('a', 1_000, log, 0), never)
  expect(log).toHaveLength(1_000)
  expect(turns).toBeLessThan(500)
})

test('work that nobody wants any more is given up, and the others go on', async () => {
  const log: string[] = []
  const unwanted = runInSlices(workOf('a', 100, log), () => log.filter(name => name === 'a').length >= 2)
  const wanted = runInSlices(workOf('b', 5, log), never)
  await Promise.all([unwanted, wanted])
  expect(log.filter(name => name === 'a')).toHaveLength(2)
  expect(log.filter(name => name === 'b')).toHaveLength(5)
})

test('a throw ends its own work alone', async () => {
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
