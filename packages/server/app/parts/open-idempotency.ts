import type { Pool } from 'pg'
import { systemClock } from '../../core/clock.ts'
import type { AnswerStore } from '../../gateway/idempotency/answer-store.ts'
import { GroupedQueries } from '../../gateway/idempotency/grouped-queries.ts'
import { Idempotency } from '../../gateway/idempotency/idempotency.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import {
  insertClaims,
  keepAnswers,
  keepSealedAnswer,
  listClaims,
  type NewAnswer,
  type NewClaim,
  readAnswer,
  releaseClaims,
  removeOwners,
  renewOwner,
  type SealedAnswer,
  type StoredClaim,
  sealAnswer,
  takeOverClaim,
} from '../../storage/idempotency/idempotent-answers.ts'
import { openPool } from '../../storage/pool.ts'
import type { AppParts } from './app-parts.ts'
import type { DatabaseSlots } from './database-slots.ts'

/** Opens the idempotency keys of this gateway. Called once the process has the instance lock. */
export async function openIdempotency(parts: AppParts, slots: DatabaseSlots): Promise<Idempotency> {
  const { config, log, exceptions, storage, closers, newId, worker } = parts
  const { pool } = storage
  // Renewals do not wait behind other statements.
  const renewals = openPool(storage.connection, line => log.warn(line), { max: 1, queryTimeoutMs: 5_000 })
  closers.push(() => renewals.end())
  // A gateway without REDIS_URL is alone on its database, so a previous one was stopped or killed. Of workers, the supervisor is.
  if (config.redisUrl === undefined && worker === undefined) await removeOwners(pool)
  const idempotency = new Idempotency({
    store: openStore(parts, renewals, slots),
    // The supervisor frees the keys of a worker that was killed by its name.
    owner: worker?.worker ?? newId(),
    maxBytes: config.idempotencyBytes,
    newId,
    now: systemClock.now,
    log,
    onException: exceptions.note,
  })
  closers.push(() => idempotency.close())
  return idempotency
}

/** Rows of one statement. */
const MAX_ROWS = 500
/** Bytes of answers of one statement. A longer answer has one of its own. */
const MAX_BYTES = 1024 * 1024

function openStore(
  { storage: { pool }, secretBox }: AppParts,
  renewals: Pool,
  slots: DatabaseSlots,
): AnswerStore {
  const inserts = new GroupedQueries<NewClaim, boolean>({
    maxSize: MAX_ROWS,
    async run(claims) {
      const inserted = await insertClaims(pool, claims)
      return claims.map(({ id }) => inserted.has(id))
    },
  })
  const finds = new GroupedQueries<Buffer, StoredClaim | undefined>({
    maxSize: MAX_ROWS,
    async run(hashes) {
      const found = await listClaims(pool, hashes)
      const byHash = new Map(found.map(entry => [entry.hash.toString('base64'), entry]))
      return hashes.map(hash => byHash.get(hash.toString('base64')))
    },
  })
  const keeps = new GroupedQueries<NewAnswer, boolean>({
    maxSize: MAX_BYTES,
    sizeOf: ({ bytes }) => bytes.length,
    async run(answers) {
      const kept = await keepAnswers(pool, secretBox, answers)
      return answers.map(({ claimId }) => kept.has(claimId))
    },
  })
  const longKeeps = new GroupedQueries<SealedAnswer, boolean>({
    maxSize: 1,
    run: async answers => [await keepSealedAnswer(pool, answers[0] as SealedAnswer)],
  })
  const keepLong = async (answer: NewAnswer): Promise<boolean> =>
    longKeeps.query(await runSteps(sealAnswer(secretBox, answer)))
  const releases = new GroupedQueries<string, undefined>({
    maxSize: MAX_ROWS,
    async run(claimIds) {
      await releaseClaims(pool, claimIds)
      return claimIds.map(() => undefined)
    },
  })
  return {
    renewOwner: owner => renewOwner(renewals, owner),
    removeOwner: owner => removeOwners(pool, owner),
    insert: claim => inserts.query(claim),
    find: hash => finds.query(hash),
    findAll: hashes => listClaims(pool, hashes),
    takeOver: (claim, previousId) => takeOverClaim(pool, claim, previousId),
    keep: (claimId, bytes) =>
      bytes.length > MAX_BYTES ? keepLong({ claimId, bytes }) : keeps.query({ claimId, bytes }),
    read: (claimId, environmentId) => slots.run(environmentId, () => readAnswer(pool, secretBox, claimId)),
    release: async claimIds => {
      await Promise.all(claimIds.map(id => releases.query(id)))
    },
  }
}
