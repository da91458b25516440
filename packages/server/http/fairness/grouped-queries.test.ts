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

  describe('of several owners', () => {
    /** Each run waits for a call of `end`. Items are named by their owner and a number. */
    function open(maxWaiting?: number) {
      const runs: string[][] = []
      const ends: (() => void)[] = []
      const queries = new GroupedQueries<string, undefined>({
        maxSize: 2,
        ownerOf: item => item.split(' ')[0] ?? '',
        ...(maxWaiting === undefined ? {} : { maxWaiting }),
        async run(items) {
          runs.push([...items])
          await new Promise<void>(resolve => ends.push(resolve))
          return items.map(() => undefined)
        },
      })
      const endOne = (): void => ends.shift()?.()
      /** Ends runs until so many items have begun. */
      const begin = async (count: number): Promise<void> => {
        const countBegun = (): number => {
          endOne()
          return runs.flat().length
        }
        await expect.poll(countBegun).toBe(count)
      }
      const endAll = async (all: readonly Promise<unknown>[]): Promise<void> => {
        let isDone = false
        const done = Promise.all(all).then(() => void (isDone = true))
        const check = (): boolean => {
          endOne()
          return isDone
        }
        await expect.poll(check).toBe(true)
        await done
      }
      return { queries, runs, begin, endAll }
    }

    test('take turns: what one has waiting delays the items of others by a group at most', async () => {
      const { queries, runs, begin, endAll } = open()
      const all = Array.from({ length: 8 }, (_, n) => queries.query(`busy ${n}`))
      await expect.poll(() => runs).toHaveLength(2)
      all.push(queries.query('other 0'), queries.query('third 0'), queries.query('other 1'))
      await begin(11)
      expect(runs.slice(2)).toEqual([
        ['busy 4', 'other 0'],
        ['third 0', 'busy 5'],
        ['other 1', 'busy 6'],
        ['busy 7'],
      ])
      await endAll(all)
    })

    test('are refused what exceeds the size that one may have waiting, while others are served', async () => {
      const { queries, begin, endAll } = open(3)
      const busy = Array.from({ length: 3 }, (_, n) => queries.query(`busy ${n}`))
      let refusal: unknown
      queries.query('busy 3').catch(error => void (refusal = error))
      await expect.poll(() => String(refusal)).toContain('too much waits')
      const other = queries.query('other 0')
      await begin(4)
      // What runs does not wait.
      const later = queries.query('busy 4')
      await begin(5)
      await endAll([...busy, other, later])
    })
  })
})
