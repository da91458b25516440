import { describe, expect, test } from 'vitest'
import { GroupedQueries } from './grouped-queries.ts'

describe('grouped calls', () => {
  test('run together if they are of one tick, and each gets its result', async () => {
    const runs: number[][] = []
    const queries = new GroupedQueries<number, number>({
      maxSize: 100,
      async run(items) {
        runs.push([...items])
        return items.map(item => item * 2)
      },
    })
    expect(await Promise.all([1, 2, 3].map(item => queries.query(item)))).toEqual([2, 4, 6])
    expect(await queries.query(4)).toBe(8)
    expect(runs).toEqual([[1, 2, 3], [4]])
  })

  test('are split by their size, and two groups run at once', async () => {
    const runs: number[][] = []
    const ends: (() => void)[] = []
    const queries = new GroupedQueries<number, undefined>({
      maxSize: 10,
      sizeOf: item => item,
      async run(items) {
        runs.push([...items])
        await new Promise<void>(resolve => ends.push(resolve))
        return items.map(() => undefined)
      },
    })
    const all = Promise.all([4, 4, 4, 50, 1].map(item => queries.query(item)))
    await expect.poll(() => runs).toEqual([[4, 4], [4]])
    ends.shift()?.()
    await expect.poll(() => runs).toEqual([[4, 4], [4], [50]])
    ends.shift()?.()
    await expect.poll(() => runs).toEqual([[4, 4], [4], [50], [1]])
    for (const end of ends) end()
    await all
  })

  test('fail with their group and no other', async () => {
    let runs = 0
    const queries = new GroupedQueries<number, number>({
      maxSize: 2,
      async run(items) {
        if (++runs === 1) throw new Error('scripted')
        return items
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map(item => queries.query(item)))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  })
})
