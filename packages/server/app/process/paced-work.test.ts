import { expect, test } from 'vitest'
import { PacedWork } from './paced-work.ts'

/** Work whose runs the test ends. */
function open(intervalMs: number) {
  const clock = { at: 1000, now: () => clock.at }
  const runs: { resolve(): void; reject(error: Error): void }[] = []
  const work = new PacedWork(
    () => new Promise((resolve, reject) => void runs.push({ resolve, reject })),
    intervalMs,
    clock,
  )
  return { clock, runs, work }
}

const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('who asks at the same moment shares a run, and who asks after it began gets the next one', async () => {
  const { clock, runs, work } = open(100)
  const asked = [work.run(), work.run()]
  await settle()
  expect(runs).toHaveLength(1)
  clock.at += 100
  const later = [work.run(), work.run()]
  await settle()
  expect(runs).toHaveLength(2)
  runs[0]?.resolve()
  await Promise.all(asked)
  runs[1]?.resolve()
  await Promise.all(later)
})

test('a thousand questions within the interval cause one run after it', async () => {
  const { runs, work } = open(20)
  const first = work.run()
  await settle()
  const others = Array.from({ length: 1000 }, () => work.run())
  expect(runs).toHaveLength(1)
  await expect.poll(() => runs.length).toBe(2)
  for (const run of runs) run.resolve()
  await Promise.all([first, ...others])
  expect(runs).toHaveLength(2)
})

test('a failed run rejects for those who share it, and the next one runs again', async () => {
  const { clock, runs, work } = open(100)
  const failing = work.run()
  await settle()
  runs[0]?.reject(new Error('away'))
  await expect(failing).rejects.toThrow('away')
  clock.at += 100
  const next = work.run()
  await settle()
  runs[1]?.resolve()
  await next
})
