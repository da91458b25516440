import { expect, test, vi } from 'vitest'
import { inTurn } from './in-turn.ts'

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('what was put off in one turn runs behind it, together and in order; what that puts off runs in the next', async () => {
  const seen: string[] = []
  inTurn(() => {
    seen.push('a')
    inTurn(() => seen.push('next turn'))
  })
  inTurn(() => seen.push('b'))
  await Promise.resolve()
  expect(seen).toEqual([])
  await nextTurn()
  expect(seen).toEqual(['a', 'b'])
  await nextTurn()
  expect(seen).toEqual(['a', 'b', 'next turn'])
})

test('a task that throws is told of as loudly as ever, and keeps no other from running', async () => {
  const loud = vi.spyOn(process, 'nextTick').mockImplementation(() => {})
  try {
    const seen: string[] = []
    inTurn(() => {
      throw new Error('broken')
    })
    inTurn(() => seen.push('other'))
    await nextTurn()
    expect(seen).toEqual(['other'])
    expect(loud.mock.calls.some(([thrower]) => catches(thrower as () => void))).toBe(true)
  } finally {
    loud.mockRestore()
  }
})

function catches(thrower: () => void): boolean {
  try {
    thrower()
    return false
  } catch (error) {
    return (error as Error).message === 'broken'
  }
}
