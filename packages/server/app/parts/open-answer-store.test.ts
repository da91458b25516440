import { randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import type { AnswerOwner, AnswerStore } from '../../gateway/idempotency/answer-store.ts'
import { type FreshDatabase, freshDatabase } from '../../testing/harness/database.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { measureLongestTick } from '../../testing/harness/longest-tick.ts'
import { DatabaseSlots } from './database-slots.ts'
import { openAnswerStore } from './open-answer-store.ts'

const MiB = 1024 * 1024
const SOON = { timeout: 20_000 }

let database: FreshDatabase
let pool: Pool
let store: AnswerStore
beforeAll(async () => {
  database = await freshDatabase()
  ;({ pool } = database)
  const secretBox = openSecretBox(Buffer.alloc(32, 1), systemRandom)
  store = openAnswerStore({ pool, renewals: pool, secretBox, slots: new DatabaseSlots(pool) })
})
afterAll(() => database.drop())

const toOwner = (): AnswerOwner => ({ orgId: randomUUID(), environmentId: randomUUID() })

async function claim(owner: AnswerOwner): Promise<string> {
  const id = randomUUID()
  const hashes = { hash: randomBytes(32), bodyHash: randomBytes(32) }
  expect(await store.insert({ id, ...hashes, ...owner, owner: randomUUID() })).toBe(true)
  return id
}

test.each([10, MiB, MiB + 1, 16 * MiB])('an answer of %i bytes is read as it was kept', async length => {
  const owner = toOwner()
  const id = await claim(owner)
  const bytes = randomBytes(length)
  expect(await store.keep(id, bytes, owner)).toBe(true)
  expect((await store.read(id, owner))?.bytes.equals(bytes)).toBe(true)
  expect(await store.read(randomUUID(), owner)).toBeUndefined()
})

test('the longest answer is read in many ticks', async () => {
  const owner = toOwner()
  const id = await claim(owner)
  await store.keep(id, Buffer.alloc(16 * MiB), owner)
  // At once it took 45 to 60 ms.
  expect(await measureLongestTick(() => store.read(id, owner))).toBeLessThan(25)
})

test('an answer whose claim was taken over is not kept, whatever its length', async () => {
  for (const length of [10, 2 * MiB])
    expect(await store.keep(randomUUID(), Buffer.alloc(length), toOwner())).toBe(false)
})

test('long answers of one organization that wait for the database delay no long answer of another', async () => {
  const [busy, other] = [toOwner(), toOwner()]
  const environments = Array.from({ length: 5 }, () => ({ ...toOwner(), orgId: busy.orgId }))
  const busyIds = await Promise.all(environments.map(claim))
  const otherId = await claim(other)
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select from idempotent_answers where org_id = $1 for update', [busy.orgId])
    const keeping = busyIds.map((id, at) => store.keep(id, Buffer.alloc(2 * MiB), environments[at] ?? busy))
    const settled = Promise.allSettled(keeping)
    // One of them has a connection.
    await untilLockWait(pool)
    let isStored = false
    const storing = store.keep(otherId, Buffer.alloc(2 * MiB), other).then(() => void (isStored = true))
    await expect.poll(() => isStored, SOON).toBe(true)
    await storing
    await client.query('rollback')
    expect(await keeping[0]).toBe(true)
    await settled
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('short answers of one organization that wait are bounded by their bytes, and those of another are kept', async () => {
  const [busy, other] = [toOwner(), toOwner()]
  const [busyId, otherId] = [await claim(busy), await claim(other)]
  const flood = Array.from({ length: 40 }, () => store.keep(busyId, Buffer.alloc(MiB), busy))
  const keeping = store.keep(otherId, Buffer.alloc(MiB), other)
  const refused = (await Promise.allSettled(flood)).filter(({ status }) => status === 'rejected')
  expect(refused.length).toBe(24)
  expect(await keeping).toBe(true)
})

test('what waits too long for its turn is rejected', async () => {
  const owner = toOwner()
  const ids = await Promise.all(Array.from({ length: 3 }, () => claim(owner)))
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select from idempotent_answers where org_id = $1 for update', [owner.orgId])
    const [first, ...others] = ids.map(id => store.keep(id, Buffer.alloc(2 * MiB), owner))
    for (const late of others) await expect(late).rejects.toThrow('too much at once')
    await client.query('rollback')
    expect(await first).toBe(true)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
