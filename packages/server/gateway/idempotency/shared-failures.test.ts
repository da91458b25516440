import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AnswerOwner, AnswerStore } from './answer-store.ts'
import { Idempotency } from './idempotency.ts'
import type { IdempotencyGroup } from './idempotency-group.ts'

/** Two organizations at a database that takes no answers for a while. */

const MiB = 1024 * 1024

const unused = (): never => {
  throw new Error('not part of a keep')
}

let keep: AnswerStore['keep']
let idempotency: Idempotency
beforeEach(() => {
  keep = async () => {
    throw new Error('the database takes no answers')
  }
  idempotency = new Idempotency({
    store: {
      renewOwner: async () => {},
      removeOwner: async () => {},
      insert: unused,
      find: unused,
      findAll: unused,
      takeOver: unused,
      release: unused,
      read: unused,
      keep: (claimId, bytes, owner) => keep(claimId, bytes, owner),
    },
    owner: randomUUID(),
    maxBytes: 1024 * MiB,
    newId: randomUUID,
    now: Date.now,
    log: { warn: () => {} },
    onException: error => {
      throw error
    },
  })
})
afterEach(() => idempotency.close())

/** Keeps an answer of an organization under a new key. */
function keepAnswer(orgId: string, claimId: string, bytes: number): Promise<'kept' | 'lost' | 'free'> {
  const scope = { hash: randomBytes(32), orgId, environmentId: `of ${orgId}` }
  const group = { key: claimId, scope } as IdempotencyGroup
  const answer = { headers: [], frames: undefined, body: Buffer.alloc(bytes) }
  return idempotency.keep(group, claimId, randomBytes(32), answer)
}

test('answers of one organization that cannot be stored leave room to those of another', async () => {
  for (let at = 0; at < 10; at++) await keepAnswer('busy', `busy ${at}`, 16 * MiB)
  expect(await keepAnswer('busy', 'busy', 16 * MiB)).toBe('free')
  expect(await keepAnswer('other', 'other', 16 * MiB)).toBe('kept')
})

test.each([
  ['fail', () => Promise.reject(new Error('the database does not take this one'))],
  ['take forever', () => new Promise<never>(() => {})],
])('answers of one organization whose writes %s stop no later write of another', async (_name, fail) => {
  await keepAnswer('busy', 'busy', 1)
  await keepAnswer('other', 'other', 1)
  const stored: AnswerOwner[] = []
  keep = async (_claimId, _bytes, owner) => {
    if (owner.orgId === 'busy') return await fail()
    stored.push(owner)
    return true
  }
  await idempotency.close()
  expect(stored).toEqual([{ hash: expect.anything(), orgId: 'other', environmentId: 'of other' }])
})
