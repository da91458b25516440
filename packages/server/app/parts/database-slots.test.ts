import { expect, test } from 'vitest'
import { DatabaseSlots } from './database-slots.ts'

function open(max: number) {
  const slots = new DatabaseSlots({ options: { max } } as ConstructorParameters<typeof DatabaseSlots>[0])
  const running: string[] = []
  const ends: (() => void)[] = []
  const ask = (environmentId: string) =>
    slots.run(environmentId, () => {
      running.push(environmentId)
      return new Promise<string>(resolve => ends.push(() => resolve(environmentId)))
    })
  return { slots, running, ends, ask }
}

test('a flood of one environment leaves a connection to another at once', async () => {
  const { running, ends, ask } = open(10)
  const flood = Array.from({ length: 100 }, () => ask('abuser'))
  const other = ask('other')
  await expect.poll(() => running).toEqual(['abuser', 'abuser', 'other'])
  ends[2]?.()
  expect(await other).toBe('other')
  for (let at = 0; at < 102; at++) {
    ends[at]?.()
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(await Promise.all(flood)).toHaveLength(100)
})

test('of two connections one is left to everything else', async () => {
  const { running, ends, ask } = open(2)
  const [first, second] = [ask('a'), ask('b')]
  await expect.poll(() => running).toEqual(['a'])
  ends[0]?.()
  await first
  await expect.poll(() => running).toEqual(['a', 'b'])
  ends[1]?.()
  await second
})

test('a statement that fails gives its connection back, and more than a thousand of one environment do not wait', async () => {
  const { slots, ask } = open(2)
  await expect(slots.run('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  const all = Array.from({ length: 1_002 }, () => ask('a'))
  for (const each of all) each.catch(() => {})
  await expect(all.at(-1)).rejects.toThrow('too much at once')
})
