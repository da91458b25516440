import { systemClock } from '../../core/clock.ts'
import { Idempotency } from '../../gateway/idempotency/idempotency.ts'
import { removeOwners } from '../../storage/idempotency/idempotent-answers.ts'
import { openPool } from '../../storage/pool.ts'
import type { AppParts } from './app-parts.ts'
import type { DatabaseSlots } from './database-slots.ts'
import { openAnswerStore } from './open-answer-store.ts'

/** Opens the idempotency keys of this gateway. Called once the process has the instance lock. */
export async function openIdempotency(parts: AppParts, slots: DatabaseSlots): Promise<Idempotency> {
  const { config, log, exceptions, storage, closers, newId, worker, secretBox } = parts
  const { pool } = storage
  // Renewals do not wait behind other statements.
  const renewals = openPool(storage.connection, line => log.warn(line), { max: 1, queryTimeoutMs: 5_000 })
  closers.push(() => renewals.end())
  // A gateway without REDIS_URL is alone on its database, so a previous one was stopped or killed. Of workers, the supervisor is.
  if (config.redisUrl === undefined && worker === undefined) await removeOwners(pool)
  const idempotency = new Idempotency({
    store: openAnswerStore({ pool, renewals, secretBox, slots }),
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
