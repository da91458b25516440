import { expect, test } from 'vitest'
import { RejectedCredentials } from './rejected-credentials.ts'

function open(store: (id: string, reason: string, updatedAt: number) => Promise<void>) {
  const clock = { now: 1_000_000 }
  const errors: unknown[] = []
  const rejections = new RejectedCredentials(
    ({ id, updatedAt }, reason) => store(id, reason, updatedAt),
    () => clock.now,
    error => void errors.push(error),
  )
  return { clock, errors, rejections }
}
const credential = (id: string, updatedAt = 1): { id: string; updatedAt: number } => ({ id, updatedAt })
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('stores each reason of a credential once a minute, whatever its provider answers in turn', async () => {
  const stored: string[] = []
  const { clock, rejections } = open(async (id, reason) => void stored.push(`${id} ${reason}`))
  for (let request = 0; request < 100; request++) {
    rejections.note(credential('a'), request % 2 === 0 ? 'auth' : 'quota')
    rejections.note(credential('b'), 'auth')
  }
  await settled()
  expect(stored).toEqual(['a auth', 'b auth', 'a quota'])
  clock.now += 60_000
  rejections.note(credential('a'), 'auth')
  await settled()
  expect(stored.at(-1)).toBe('a auth')
})

test('stores one at a time, and what failed with the next refusal', async () => {
  let running = 0
  let most = 0
  let fails = true
  const stored: string[] = []
  const { errors, rejections } = open(async id => {
    most = Math.max(most, ++running)
    await settled()
    running--
    if (fails) throw new Error('down')
    stored.push(id)
  })
  for (const id of ['a', 'b', 'c']) rejections.note(credential(id), 'auth')
  await expect.poll(() => errors.length).toBe(3)
  fails = false
  for (const id of ['a', 'b', 'c']) rejections.note(credential(id), 'auth')
  await expect.poll(() => stored).toEqual(['a', 'b', 'c'])
  expect(most).toBe(1)
})

test('stores the refusal of a key that replaced a refused one', async () => {
  const stored: string[] = []
  const { rejections } = open(async (id, _, updatedAt) => void stored.push(`${id} ${updatedAt}`))
  rejections.note(credential('a', 1), 'auth')
  rejections.note(credential('a', 1), 'auth')
  rejections.note(credential('a', 2), 'auth')
  await settled()
  expect(stored).toEqual(['a 1', 'a 2'])
})
