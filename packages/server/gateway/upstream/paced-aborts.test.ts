import { expect, test } from 'vitest'
import { PacedAborts } from './paced-aborts.ts'

const nextTick = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

test('ends a connection at once, and those of many callers that leave together over several ticks, in order', async () => {
  const aborts = new PacedAborts()
  const ended: number[] = []
  const end = (name: number) => (): void => {
    ended.push(name)
    for (const until = performance.now() + 1; performance.now() < until; );
  }
  aborts.add(end(0))
  expect(ended).toEqual([0])
  for (let name = 1; name < 20; name++) aborts.add(end(name))
  expect(ended.length).toBeLessThan(4)
  for (let ticks = 0; ended.length < 20; ticks++) {
    const before = ended.length
    await nextTick()
    expect(ended.length - before).toBeLessThan(4)
    expect(ticks).toBeLessThan(40)
  }
  expect(ended).toEqual(Array.from({ length: 20 }, (_, name) => name))
  await nextTick()
  aborts.add(end(20))
  expect(ended.at(-1)).toBe(20)
})
