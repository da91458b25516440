import type { Pool } from 'pg'

/** End users that one statement changes: it takes less than a tenth of a second, for which requests that name one of them may wait. */
const BATCH_ROWS = 1_000

/** Where a batch ends. PostgreSQL writes the time, which is finer than a Date. */
interface Position {
  readonly created_at: string
  readonly id: string
}

/**
 * Takes up to BATCH_ROWS end users off a plan, newest first, from a position on, and returns the last of them. Continuing there it passes
 * over no row that an earlier batch has left behind. An end user that is locked is left to the next run.
 */
const CLEAR = `
  with batch as (
    select id, created_at from end_users
    where plan_id = $1 and (created_at, id) < (coalesce($2::timestamptz, 'infinity'), $3::uuid)
    order by created_at desc, id desc limit ${BATCH_ROWS} for no key update skip locked
  ), cleared as (
    update end_users set plan_id = null from batch where end_users.id = batch.id
  )
  select created_at::text, id, count(*) over () as rows from batch order by batch.created_at, batch.id limit 1`

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** What a run of clearDeletedPlans did. */
export interface ClearedPlans {
  readonly removedPlans: number
  readonly clearedEndUsers: number
}

/**
 * Removes the rows of deleted plans (removePlan) that no end user names any more, after it has taken them off their end users. For those
 * nothing changes: since the plan was deleted they have the default plan. The signal stops the run after the current batch.
 */
export async function clearDeletedPlans(pool: Pool, signal?: AbortSignal): Promise<ClearedPlans> {
  const { rows: deleted } = await pool.query<{ id: string }>(
    'select id from plans where deleted_at is not null',
  )
  let removedPlans = 0
  let clearedEndUsers = 0
  for (const { id } of deleted) {
    let last: Position | undefined
    do {
      if (signal?.aborted === true) return { removedPlans, clearedEndUsers }
      const { rows } = await pool.query<Position & { rows: number }>(CLEAR, [
        id,
        last?.created_at ?? null,
        last?.id ?? LAST_ID,
      ])
      last = rows[0]
      clearedEndUsers += rows[0]?.rows ?? 0
    } while (last !== undefined)
    const { rowCount } = await pool.query(
      'delete from plans where id = $1 and not exists (select from end_users where plan_id = $1)',
      [id],
    )
    removedPlans += rowCount ?? 0
  }
  return { removedPlans, clearedEndUsers }
}
