import type { Pool } from 'pg'
import { expect } from 'vitest'

/** Resolves once so many sessions in the pool's database wait for locks. */
export async function untilLockWait(pool: Pool, sessions = 1): Promise<void> {
  const countWaiting = async (): Promise<number> => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length
  }
  await expect.poll(countWaiting, { timeout: 60_000, interval: 10 }).toBe(sessions)
}
