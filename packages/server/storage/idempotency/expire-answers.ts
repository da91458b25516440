import type { Pool, PoolClient } from 'pg'
import { withSessionLock } from '../session-lock.ts'

/** Rows that one statement deletes: locks stay short. */
const BATCH_ROWS = 1_000
/** What a row takes besides its answer, in bytes. */
const ROW_BYTES = 512

/**
 * Removes expired answers, claims of processes that ended an hour ago, and of environments that have more than
 * `maxBytes` their oldest answers. Returns how many rows it removed; undefined if another process is doing so. The signal
 * stops the run after the current batch.
 */
export async function expireAnswers(
  pool: Pool,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<{ readonly expired: number; readonly surplus: number } | undefined> {
  return await withSessionLock(pool, 'rideau.idempotency', async client => {
    const expired = await deleteAll(client, EXPIRED, [], signal)
    const abandoned = await deleteAll(client, ABANDONED, [], signal)
    await client.query("delete from idempotency_owners where renewed_at < now() - interval '1 hour'")
    const surplus = await deleteAll(client, SURPLUS, [maxBytes], signal)
    return { expired: expired + abandoned, surplus }
  })
}

const EXPIRED = `select id from idempotent_answers where expires_at <= now()
  limit ${BATCH_ROWS} for update skip locked`

const ABANDONED = `select id from idempotent_answers
  where expires_at is null and claimed_at < now() - interval '1 hour' and not is_idempotency_owner_alive(owner)
  limit ${BATCH_ROWS} for update skip locked`

/** Sums are made of environments first, so that rows are sorted of those with too many only. */
const SURPLUS = `select id from (
    select id, sum(answer_bytes + ${ROW_BYTES}) over (partition by environment_id order by expires_at desc, id) as total
    from idempotent_answers
    where expires_at is not null and environment_id in (
      select environment_id from idempotent_answers where expires_at is not null
      group by environment_id having sum(answer_bytes + ${ROW_BYTES}) > $1)
  ) summed where total > $1 limit ${BATCH_ROWS}`

async function deleteAll(
  client: PoolClient,
  selected: string,
  values: readonly number[],
  signal: AbortSignal | undefined,
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await client.query(`delete from idempotent_answers where id in (${selected})`, [
      ...values,
    ])
    total += rowCount ?? 0
    if ((rowCount ?? 0) < BATCH_ROWS || signal?.aborted === true) return total
  }
}
