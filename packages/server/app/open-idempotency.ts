import { systemClock } from '../core/clock.ts'
import { Idempotency } from '../gateway/idempotency/idempotency.ts'
import {
  findClaims,
  insertClaim,
  keepAnswer,
  readAnswer,
  releaseClaims,
  removeOwners,
  renewOwner,
  takeOverClaim,
} from '../storage/idempotent-answers.ts'
import { openPool } from '../storage/pool.ts'
import type { AppParts } from './app-parts.ts'

/** Opens the idempotency keys of this gateway. Called once the process has the instance lock. */
export async function openIdempotency(parts: AppParts): Promise<Idempotency> {
  const { config, log, exceptions, storage, secretBox, closers, newId } = parts
  const { pool } = storage
  // Renewals do not wait behind other statements.
  const renewals = openPool(storage.connection, line => log.warn(line), { max: 1, queryTimeoutMs: 5_000 })
  closers.push(() => renewals.end())
  // A gateway without REDIS_URL is alone on its database, so a previous one was stopped or killed.
  if (config.redisUrl === undefined) await removeOwners(pool)
  const idempotency = new Idempotency({
    store: {
      renewOwner: owner => renewOwner(renewals, owner),
      removeOwner: owner => removeOwners(pool, owner),
      insert: claim => insertClaim(pool, claim),
      find: hashes => findClaims(pool, hashes),
      takeOver: (claim, previousId) => takeOverClaim(pool, claim, previousId),
      keep: (claimId, answer) => keepAnswer(pool, secretBox, claimId, answer),
      read: claimId => readAnswer(pool, secretBox, claimId),
      release: claimIds => releaseClaims(pool, claimIds),
    },
    owner: newId(),
    maxBytes: config.idempotencyBytes,
    newId,
    now: systemClock.now,
    log,
    onException: exceptions.note,
  })
  closers.push(() => idempotency.close())
  return idempotency
}
