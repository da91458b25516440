import type { Pool, PoolClient } from 'pg'

/**
 * Runs `work` while this process has the advisory lock of this name; returns undefined, without running it, if another one has it. If
 * something fails, the connection is closed, which frees the lock whatever state it is in.
 */
export async function withSessionLock<Result>(
  pool: Pool,
  name: string,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result | undefined> {
  const client = await pool.connect()
  let isUnlocked = false
  try {
    const { rows } = await client.query<{ acquired: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as acquired',
      [name],
    )
    const isAcquired = rows[0]?.acquired === true
    const result = isAcquired ? await work(client) : undefined
    if (isAcquired) await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
    isUnlocked = true
    return result
  } finally {
    client.release(!isUnlocked)
  }
}
