import { expect, test } from 'vitest'
import { DatabaseSlots } from './database-slots.ts'

function open(max: number, bounds?: ConstructorParameters<typeof DatabaseSlots>[1]) {
  const pool = { options: { max } } as ConstructorParameters<typeof DatabaseSlots>[0]
  const slots = new DatabaseSlots(pool, bounds)
  const running: string[] = []
  const ends: (() => void)[] = []
  const ask = (environmentId: string, orgId = `organization of ${environmentId}`) =>
    slots.run({ orgId, environmentId }, () => {
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

test('an organization with many environments has one turn among those of others', async () => {
  const { running, ends, ask } = open(10)
  const flood = Array.from({ length: 20 }, (_, n) => ask(`abuser ${n}`, 'abuser'))
  const others = [ask('other', 'other'), ask('third', 'third')]
  await expect.poll(() => running).toEqual(['abuser 0', 'abuser 1', 'abuser 2'])
  for (let at = 0; at < 2; at++) ends[at]?.()
  await expect.poll(() => running.slice(3)).toEqual(['other', 'third'])
  for (let at = 2; at < 22; at++) {
    ends[at]?.()
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(await Promise.all([...flood, ...others])).toHaveLength(22)
})

test('with bounds of its own it gives less, and rejects what waits too long', async () => {
  const { running, ends, ask } = open(10, { max: 2, waitMs: 0 })
  const [first, second, other] = [ask('a'), ask('a'), ask('b')]
  await expect(second).rejects.toThrow('too much at once')
  expect(running).toEqual(['a', 'b'])
  for (const end of ends) end()
  expect(await Promise.all([first, other])).toEqual(['a', 'b'])
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
  await expect(
    slots.run({ orgId: 'o', environmentId: 'a' }, () => Promise.reject(new Error('down'))),
  ).rejects.toThrow('down')
  const all = Array.from({ length: 1_002 }, () => ask('a'))
  for (const each of all) each.catch(() => {})
  await expect(all.at(-1)).rejects.toThrow('too much at once')
})
