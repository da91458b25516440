import type { Pool } from 'pg'
import { expect } from 'vitest'

/** Resolves once a session in the pool's database waits for a lock. */
export async function untilLockWait(pool: Pool): Promise<void> {
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  }
  await expect.poll(isWaiting, { timeout: 20_000, interval: 10 }).toBe(true)
}
