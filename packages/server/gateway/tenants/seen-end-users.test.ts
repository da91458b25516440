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

test('notes at most 5,000 of many new end users at once, and the others when they are seen again', async () => {
  const ids = Array.from({ length: 6_000 }, (_, n) => `u${n}`)
  await note(...ids)
  expect(batches.flat()).toHaveLength(5_000)
  await note(...ids)
  expect(new Set(batches.flat()).size).toBe(6_000)
  expect(batches.flat()).toHaveLength(6_000)
})

test('who waits for its record does not wait for those that others note from then on', async () => {
  let flooded = 0
  const flooding = new SeenEndUsers({
    insert: async rows => {
      batches.push(rows.map(({ external_id }) => external_id))
      // Another key names a new end user during each statement.
      if (flooded < 10_000) flooding.note(environment, `flood${flooded++}`)
      await new Promise(resolve => setImmediate(resolve))
    },
    newId: () => 'id',
    now: () => now,
    log: { warn: () => {} },
  })
  flooding.note(environment, 'first')
  await flooding.settled()
  expect(batches.flat()).toContain('first')
  expect(flooded).toBeLessThan(10)
})

test('an organization that names very many end users has those of others noted only once', async () => {
  const flooding = { id: 'f', orgId: 'another', projectId: 'p' } as Environment
  await note('a')
  for (let round = 0; round < 12; round++) {
    for (let at = 0; at < 5_000; at++) seen.note(flooding, `u${round * 5_000 + at}`)
    await seen.settled()
  }
  await note('a')
  expect(batches.flat().filter(id => id === 'a')).toHaveLength(1)
})
