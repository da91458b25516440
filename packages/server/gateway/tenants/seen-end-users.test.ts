import { beforeEach, expect, test } from 'vitest'
import type { Environment } from '../../core/tenancy/tenancy.ts'
import type { SeenEndUser } from '../../storage/end-users/end-users.ts'
import { SeenEndUsers } from './seen-end-users.ts'

const environment = { id: 'e', orgId: 'o', projectId: 'p' } as Environment
let now: number
let isDown: boolean
let batches: string[][]
let seen: SeenEndUsers
beforeEach(() => {
  now = 1_000_000
  isDown = false
  batches = []
  seen = new SeenEndUsers({
    insert: async (rows: readonly SeenEndUser[]) => {
      batches.push(rows.map(({ external_id }) => external_id))
      if (isDown) throw new Error('the database is down')
    },
    newId: () => 'id',
    now: () => now,
    log: { warn: () => {} },
  })
})

const note = async (...ids: string[]): Promise<void> => {
  for (const id of ids) seen.note(environment, id)
  await seen.settled()
}

test('the end users of one moment share a statement, and each is noted once in ten minutes', async () => {
  await note('a', 'b', 'a')
  await note('b')
  expect(batches).toEqual([['a', 'b']])
  now += 10 * 60_000
  await note('b')
  expect(batches).toEqual([['a', 'b'], ['b']])
})

test('after a failed statement nothing is asked for a second, and then again', async () => {
  isDown = true
  await note('a')
  isDown = false
  await note('a')
  expect(batches).toEqual([['a']])
  now += 1_000
  await note('a')
  expect(batches).toEqual([['a'], ['a']])
})

test('notes at most 2,000 of many new end users of an organization at once, and the others when they are seen again', async () => {
  const ids = Array.from({ length: 3_000 }, (_, n) => `u${n}`)
  await note(...ids)
  expect(batches.flat()).toHaveLength(2_000)
  await note(...ids)
  expect(new Set(batches.flat()).size).toBe(3_000)
  expect(batches.flat()).toHaveLength(3_000)
})

test('an end user of whom a record is made waits for it, and for no other', async () => {
  let end = (): void => {}
  const slow = new SeenEndUsers({
    insert: async rows => {
      const ids = rows.map(({ external_id }) => external_id)
      batches.push(ids)
      if (ids.includes('slow')) await new Promise<void>(resolve => (end = resolve))
    },
    newId: () => 'id',
    now: () => now,
    log: { warn: () => {} },
  })
  const waiting = slow.note(environment, 'slow')
  await expect.poll(() => batches).toEqual([['slow']])
  await slow.note(environment, 'quick')
  expect(batches).toEqual([['slow'], ['quick']])
  expect(slow.note(environment, 'quick')).toBeUndefined()
  expect(slow.note(environment, 'slow')).toBeDefined()
  end()
  await waiting
  expect(slow.note(environment, 'slow')).toBeUndefined()
})

const another = { id: 'f', orgId: 'another', projectId: 'p' } as Environment

test('the end users of one organization wait for a statement behind the many new ones of another, and are never forgotten for them', async () => {
  const ends: (() => void)[] = []
  let isOpen = false
  const flooded = new SeenEndUsers({
    insert: async rows => {
      batches.push(rows.map(({ external_id }) => external_id))
      if (!isOpen) await new Promise<void>(resolve => ends.push(resolve))
    },
    newId: () => 'id',
    now: () => now,
    log: { warn: () => {} },
  })
  for (let at = 0; at < 10_000; at++) flooded.note(another, `u${at}`)
  // Statements run.
  await expect.poll(() => ends.length).toBeGreaterThan(0)
  const begun = ends.length
  let isStored = false
  flooded.note(environment, 'honest')?.then(() => void (isStored = true))
  for (let at = 0; at < begun; at++) ends[at]?.()
  await expect.poll(() => batches.length).toBeGreaterThan(begun)
  expect(batches[begun]).toContain('honest')
  ends[begun]?.()
  await expect.poll(() => isStored).toBe(true)
  isOpen = true
  for (const end of ends) end()
  await flooded.settled()
})

test('an organization that names very many end users has those of others noted only once', async () => {
  await note('a')
  for (let round = 0; round < 30; round++) {
    for (let at = 0; at < 2_000; at++) seen.note(another, `u${round * 2_000 + at}`)
    await seen.settled()
  }
  await note('a')
  expect(batches.flat().filter(id => id === 'a')).toHaveLength(1)
})
