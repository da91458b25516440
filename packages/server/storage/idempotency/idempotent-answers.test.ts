import { randomBytes, randomUUID } from 'node:crypto'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSecretBox, type SecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { resealBatch, retireMasterKeys } from '../secrets/reseal.ts'
import { SEALED_COLUMNS, type SealedColumn } from '../secrets/sealed-columns.ts'
import { expireAnswers } from './expire-answers.ts'
import {
  insertClaims,
  keepAnswers,
  keepSealedAnswer,
  listClaims,
  type NewClaim,
  openAnswer,
  PIECE_BYTES,
  readAnswer,
  releaseClaims,
  removeOwners,
  renewOwner,
  sealAnswer,
  takeOverClaim,
} from './idempotent-answers.ts'

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const box = openSecretBox(oldKey, systemRandom)
const insertClaim = async (pool: Pool, claim: NewClaim): Promise<boolean> =>
  (await insertClaims(pool, [claim])).has(claim.id)
const keepAnswer = async (pool: Pool, sealing: SecretBox, claimId: string, bytes: Buffer): Promise<boolean> =>
  (await keepAnswers(pool, sealing, [{ claimId, bytes }])).has(claimId)
const read = async (pool: Pool, opening: SecretBox, claimId: string) => {
  const found = await readAnswer(pool, claimId)
  return found && { bytes: runAtOnce(openAnswer(opening, found)), leftMs: found.leftMs }
}
/** Not valid UTF-8. */
const BYTES = Buffer.of(0, 255, 128, 10)

describe.each(listTestServers())('answers of idempotency keys on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await database.pool.query('truncate idempotent_answers, idempotency_owners')
  })

  const environmentId = randomUUID()
  const toClaim = (fields: Partial<NewClaim> = {}): NewClaim => ({
    id: randomUUID(),
    hash: randomBytes(32),
    bodyHash: randomBytes(32),
    orgId: randomUUID(),
    environmentId,
    owner: randomUUID(),
    ...fields,
  })
  const find = async (claim: NewClaim) => (await listClaims(database.pool, [claim.hash]))[0]
  const ids = async (): Promise<string[]> =>
    (await database.pool.query('select id from idempotent_answers order by 1')).rows.map(({ id }) => id)
  const age = (claim: NewClaim, hours: number) =>
    database.pool.query(
      `update idempotent_answers set expires_at = expires_at - $2 * interval '1 hour',
        claimed_at = claimed_at - $2 * interval '1 hour' where id = $1`,
      [claim.id, hours],
    )

  test('one of concurrent claims gets the key', async () => {
    const claims = Array.from({ length: 10 }, () => toClaim({ hash: Buffer.alloc(32, 7) }))
    const inserted = await Promise.all(claims.map(claim => insertClaim(database.pool, claim)))
    expect(inserted.filter(Boolean)).toHaveLength(1)
  })

  test('statements that claim many of the same keys at once never block each other, and each key is claimed once', async () => {
    const hashes = Array.from({ length: 200 }, () => randomBytes(32))
    const claimAll = (order: readonly Buffer[]) =>
      insertClaims(
        database.pool,
        order.map(hash => toClaim({ hash })),
      )
    const reversed = hashes.toReversed()
    const won = await Promise.all(
      Array.from({ length: 8 }, (_, n) => claimAll(n % 2 === 0 ? hashes : reversed)),
    )
    expect(won.reduce((sum, { size }) => sum + size, 0)).toBe(200)
    expect(await ids()).toHaveLength(200)
  })

  test('a claim is free once its process is gone, and one of concurrent processes takes it over', async () => {
    const { pool } = database
    const first = toClaim()
    await renewOwner(pool, first.owner)
    await insertClaim(pool, first)
    expect(await find(first)).toMatchObject({ id: first.id, isKept: false, isFree: false })
    await removeOwners(pool, first.owner)
    expect(await find(first)).toMatchObject({ isKept: false, isFree: true })
    const others = Array.from({ length: 5 }, () => toClaim({ hash: first.hash }))
    const taken = await Promise.all(others.map(claim => takeOverClaim(pool, claim, first.id)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    // The former owner changes nothing.
    expect(await keepAnswer(pool, box, first.id, BYTES)).toBe(false)
    await releaseClaims(pool, [first.id])
    expect(await ids()).toHaveLength(1)
  })

  test('an answer is read as it was stored for 24 hours, then its key is free', async () => {
    const { pool } = database
    const claim = toClaim()
    await insertClaim(pool, claim)
    expect(await read(pool, box, claim.id)).toBeUndefined()
    expect(await keepAnswer(pool, box, claim.id, BYTES)).toBe(true)
    await releaseClaims(pool, [claim.id])
    const stored = await read(pool, box, claim.id)
    expect(stored?.bytes).toEqual(BYTES)
    expect(stored?.leftMs).toBeGreaterThan(23.9 * 3_600_000)
    expect(await find(claim)).toMatchObject({ isKept: true, isFree: false, bytes: 4 })
    await age(claim, 24)
    expect(await find(claim)).toMatchObject({ isKept: true, isFree: true })
    expect(await read(pool, box, claim.id)).toBeUndefined()
  })

  test('a long answer is sealed in steps and stored by itself, unless its claim was taken over', async () => {
    const { pool } = database
    const [first, other] = [toClaim(), toClaim()]
    for (const claim of [first, other]) await insertClaim(pool, claim)
    const bytes = Buffer.alloc(3_000_000, 'answer')
    const sealed = runAtOnce(sealAnswer(box, { claimId: first.id, bytes }))
    expect(await keepSealedAnswer(pool, sealed)).toBe(true)
    const stored = await read(pool, box, first.id)
    expect(stored?.bytes.equals(bytes)).toBe(true)
    expect(stored?.leftMs).toBeGreaterThan(23.9 * 3_600_000)
    expect(await find(first)).toMatchObject({ isKept: true, bytes: bytes.length })
    expect(await find(other)).toMatchObject({ isKept: false })
    await takeOverClaim(pool, toClaim({ hash: other.hash }), other.id)
    expect(await keepSealedAnswer(pool, { ...sealed, claimId: other.id })).toBe(false)
  })

  test.each([1, PIECE_BYTES - 37, PIECE_BYTES - 36, 5 * PIECE_BYTES])(
    'an answer of %i bytes is read in pieces as it was stored',
    async length => {
      const { pool } = database
      const claim = toClaim()
      await insertClaim(pool, claim)
      const bytes = randomBytes(length)
      await keepAnswer(pool, box, claim.id, bytes)
      const pieces = (await readAnswer(pool, claim.id))?.pieces ?? []
      expect(pieces.length).toBe(Math.ceil((length + 37) / PIECE_BYTES))
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(PIECE_BYTES)
      expect((await read(pool, box, claim.id))?.bytes.equals(bytes)).toBe(true)
    },
  )

  test('expired answers and abandoned claims are removed', async () => {
    const { pool } = database
    const keep = async (hours: number) => {
      const claim = toClaim()
      await insertClaim(pool, claim)
      await keepAnswer(pool, box, claim.id, BYTES)
      await age(claim, hours)
      return claim.id
    }
    const running = toClaim()
    await renewOwner(pool, running.owner)
    await insertClaim(pool, running)
    await age(running, 2)
    const abandoned = toClaim()
    await insertClaim(pool, abandoned)
    await age(abandoned, 2)
    const recent = toClaim()
    await insertClaim(pool, recent)
    const kept = await keep(23)
    await keep(25)
    expect(await expireAnswers(pool, { maxBytes: 1e9 })).toMatchObject({ expired: 2, surplus: 0 })
    expect(await ids()).toEqual([running.id, recent.id, kept].sort())
    expect(await expireAnswers(pool, { maxBytes: 1e9 })).toMatchObject({ expired: 0, surplus: 0 })
  })

  test('the answers are encrypted anew when the master key changes, and a retired key stores none', async () => {
    const { db, pool } = database
    const claims = Array.from({ length: 20 }, () => toClaim())
    for (const claim of claims) {
      await insertClaim(pool, claim)
      await keepAnswer(pool, box, claim.id, BYTES)
    }
    const open = toClaim()
    await insertClaim(pool, open)
    const during = openSecretBox(newKey, systemRandom, [oldKey])
    const column = SEALED_COLUMNS.find(({ table }) => table === 'idempotent_answers') as SealedColumn
    let lastId: string | undefined
    do lastId = (await resealBatch(db, column, during, lastId)).lastId
    while (lastId !== undefined)
    const after = openSecretBox(newKey, systemRandom)
    for (const { id } of claims) expect((await read(pool, after, id))?.bytes).toEqual(BYTES)
    expect(await retireMasterKeys(db, [box.keyId], new Date())).toBe(true)
    await expect(keepAnswer(pool, box, open.id, BYTES)).rejects.toThrow('rotated out')
    expect(await keepAnswer(pool, after, open.id, BYTES)).toBe(true)
  })
})
