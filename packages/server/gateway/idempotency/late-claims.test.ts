import { randomBytes, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertClaims,
  listClaims,
  type NewClaim,
  releaseClaims,
  removeOwners,
  renewOwner,
  takeOverClaim,
} from '../../storage/idempotency/idempotent-answers.ts'
import { type FreshDatabase, freshDatabase } from '../../testing/harness/database.ts'
import type { AnswerStore } from './answer-store.ts'
import { Idempotency } from './idempotency.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const unused = (): never => {
  throw new Error('not part of a claim')
}

/** The database, whose first insert waits for `open`. `settled` resolves once nothing of what was called runs any more. */
function openStalledStore(): { store: AnswerStore; open: () => void; settled: () => Promise<void> } {
  const { pool } = database
  const running: Promise<unknown>[] = []
  const note = <Result>(work: Promise<Result>): Promise<Result> => {
    running.push(work)
    return work
  }
  let open = (): void => {}
  let stalled: Promise<void> | undefined = new Promise(resolve => {
    open = resolve
  })
  const insert = async (claim: NewClaim): Promise<boolean> => {
    const waiting = stalled
    stalled = undefined
    await waiting
    return (await insertClaims(pool, [claim])).has(claim.id)
  }
  const store: AnswerStore = {
    renewOwner: owner => renewOwner(pool, owner),
    removeOwner: owner => removeOwners(pool, owner),
    insert: claim => note(insert(claim)),
    find: hash => note(listClaims(pool, [hash]).then(([found]) => found)),
    findAll: hashes => listClaims(pool, hashes),
    takeOver: (claim, previousId) => note(takeOverClaim(pool, claim, previousId)),
    release: ids => note(releaseClaims(pool, ids)),
    keep: unused,
    read: unused,
  }
  const settled = async (): Promise<void> => {
    for (let seen = 0; seen < running.length; ) {
      seen = running.length
      await Promise.all(running)
      // What follows a statement is called before the next tick.
      await setImmediate()
    }
  }
  return { store, open, settled }
}

test.each([
  ['a running claim of its own process', async () => {}],
  [
    'one that its process could not renew in time',
    (owner: string) => database.pool.query('delete from idempotency_owners where id = $1', [owner]),
  ],
])('a claim that comes too late for its request does not replace %s', async (_name, prepare) => {
  const { store, open, settled } = openStalledStore()
  const owner = randomUUID()
  const idempotency = new Idempotency({
    store,
    owner,
    maxBytes: 1024,
    newId: randomUUID,
    now: Date.now,
    log: { warn: () => {} },
    onException: error => {
      throw error
    },
  })
  const scope = { hash: randomBytes(32), orgId: randomUUID(), environmentId: randomUUID() }
  const bodyHash = randomBytes(32)
  const stored = async () => (await listClaims(database.pool, [scope.hash])).map(({ id }) => id)
  try {
    await expect(idempotency.claim(scope, bodyHash)).rejects.toThrow('no answer of the database')
    const { claimId } = (await idempotency.claim(scope, bodyHash)) as { claimId: string }
    await prepare(owner)
    open()
    await settled()
    expect(await stored()).toEqual([claimId])
  } finally {
    await idempotency.close()
  }
})
