import { Client, type Pool } from 'pg'
import { runGuarded, throwLater } from '../core/on-exception.ts'
import { type Connection, toClientConfig } from './connection.ts'
import { waitFor } from './embedded/wait.ts'

/** The sessions of a killed process end when the server notices, usually at once. */
const PATIENCE_MS = 5000
const RETRY_MS = 200

export interface InstanceLockOptions {
  /**
   * Together with others that share their limits: only a process that counts in process is kept out. Otherwise alone.
   */
  readonly isShared?: boolean
  /** The lock went with its connection and another process has it now, or it cannot be had back: stop serving. */
  readonly onLost?: (error: Error) => void
  readonly patienceMs?: number
}

/**
 * Makes this the only gateway process on the database, or one of several that all share their limits, by a lock that ends
 * with its connection; the returned function gives it back. Limits that are counted in process hold only in one process.
 * Throws where another process stands against it.
 */
export async function holdInstanceLock(
  connection: Connection,
  { isShared = false, onLost = () => {}, patienceMs = PATIENCE_MS }: InstanceLockOptions = {},
): Promise<() => Promise<void>> {
  let released = false
  let client = await acquire(connection, isShared, patienceMs, reacquire)

  function reacquire(): void {
    if (released) return
    acquire(connection, isShared, patienceMs, reacquire).then(
      again => {
        client = again
        if (released) again.end().catch(() => {})
      },
      (error: Error) => {
        if (!released) runGuarded('the loss of the instance lock', throwLater, () => onLost(error))
      },
    )
  }

  return async () => {
    if (released) return
    released = true
    await client.end()
  }
}

/** Gateway processes that run on the database now. Rejects where it cannot be reached. */
export async function countInstances(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from pg_locks where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = hashtextextended('rideau.instance', 0)`,
  )
  return rows[0]?.count ?? 0
}

async function acquire(
  connection: Connection,
  isShared: boolean,
  patienceMs: number,
  onEnd: () => void,
): Promise<Client> {
  let failure: unknown
  const client = await waitFor(
    async () => {
      try {
        failure = undefined
        return await tryAcquire(connection, isShared, onEnd)
      } catch (error) {
        failure = error
        return undefined
      }
    },
    patienceMs,
    RETRY_MS,
  )
  if (client !== undefined) return client
  if (failure !== undefined) throw failure
  throw new Error(
    isShared
      ? 'a gateway process without REDIS_URL already runs on this database: stop it, or set REDIS_URL for it too, ' +
          'because several processes must share their limits'
      : 'another gateway process already runs on this database: stop it, or set REDIS_URL for all of them, ' +
          'because several processes must share their limits',
  )
}

async function tryAcquire(
  connection: Connection,
  isShared: boolean,
  onEnd: () => void,
): Promise<Client | undefined> {
  const client = new Client({ ...toClientConfig(connection), query_timeout: 5000 })
  let held = false
  client.on('error', () => {})
  client.on('end', () => {
    if (held) onEnd()
  })
  try {
    await client.connect()
    const { rows } = await client.query<{ held: boolean }>(
      `select pg_try_advisory_lock${isShared ? '_shared' : ''}(hashtextextended('rideau.instance', 0)) as held`,
    )
    held = rows[0]?.held === true
  } finally {
    if (!held) await client.end().catch(() => {})
  }
  return held ? client : undefined
}
