import { expect, test } from 'vitest'
import { Preloads } from './preloads.ts'
import type { SnapshotName } from './snapshots.ts'

test('runs two loads at a time, forgets what is too much, and goes on after a failure', async () => {
  const waiting: { name: SnapshotName; end: (error?: Error) => void }[] = []
  const preloads = new Preloads(
    name =>
      new Promise((resolve, reject) => {
        waiting.push({ name, end: error => (error === undefined ? resolve() : reject(error)) })
      }),
  )
  for (let index = 0; index < 2_000; index++) preloads.add(['key', `${index}`])
  expect(waiting.map(({ name }) => name[1])).toEqual(['0', '1'])
  waiting[0]?.end(new Error('the database is away'))
  await expect.poll(() => waiting.length).toBe(3)
  for (let at = 1; at < 1_002; at++) {
    waiting[at]?.end()
    await expect.poll(() => waiting.length, { interval: 1 }).toBe(Math.min(at + 3, 1_002))
  }
  expect(waiting.at(-1)?.name[1]).toBe('1001')
  preloads.add(['key', 'later'])
  await expect.poll(() => waiting.at(-1)?.name[1]).toBe('later')
})
