import { Client, type Pool } from 'pg'
import { runGuarded, throwLater } from '../core/on-exception.ts'
import { type Connection, toClientConfig } from './connection.ts'
import { waitFor } from './embedded/wait-for.ts'

/** The session of a killed process, and its lock, end when the server notices: usually at once. */
const WAIT_MS = 5000
const RETRY_MS = 200

export interface InstanceLockOptions {
  /** True: shares the lock with other processes that share their limits. False, the default: excludes every other process. */
  readonly isShared?: boolean
  /** The id of this process's journal. Excludes every other process with the same one, also those that share the lock. */
  readonly journalId?: string
  /** The lock was lost with its connection, and another process has it now: this process must stop serving. */
  readonly onLost?: (error: Error) => void
  /** How long to wait for another process to release the lock; 5 seconds by default. */
  readonly patienceMs?: number
}

/**
 * Acquires the right to run a gateway on the database, and returns the function that releases it. Limits that are
 * counted in process are exact in a single process only, so such a process excludes all others. A journal has one writer: a second
 * one would take it for that of a killed process, wherever the two run.
 *
 * The lock is an advisory lock of a connection of its own: it ends with the process, however that ends. If the connection
 * breaks, the lock is acquired again, once the database can be reached. Rejects if another process holds a conflicting lock.
 */
export async function acquireInstanceLock(
  connection: Connection,
  { isShared = false, journalId, onLost = () => {}, patienceMs = WAIT_MS }: InstanceLockOptions = {},
): Promise<() => Promise<void>> {
  let released = false
  const wanted: WantedLock = { connection, isShared, journalId, onEnd: reacquire, sessions: new Set() }
  let client = await acquire(wanted, patienceMs)

  function reacquire(): void {
    if (released) return
    acquire(wanted, patienceMs).then(
      again => {
        client = again
        if (released) again.end().catch(() => {})
      },
      (error: Error) => {
        // Until the database can be reached it is unknown whether another process has the lock.
        if (isInUse(error)) {
          if (!released) runGuarded('the loss of the instance lock', throwLater, () => onLost(error))
        } else setTimeout(reacquire, RETRY_MS).unref()
      },
    )
  }

  return async () => {
    if (released) return
    released = true
    await client.end()
  }
}

/** The number of gateway processes that run on the database. Rejects if the database is out of reach. */
export async function countInstances(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from pg_locks where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = hashtextextended('rideau.instance', 0)`,
  )
  return rows[0]?.count ?? 0
}

/** Another process runs on the database, and the two would not share their limits. */
export class DatabaseInUseError extends Error {
  override readonly name = 'DatabaseInUseError'
}

/** Another process with the same journal runs on the database. */
export class JournalInUseError extends Error {
  override readonly name = 'JournalInUseError'
}

function isInUse(error: Error): boolean {
  return error instanceof DatabaseInUseError || error instanceof JournalInUseError
}

interface WantedLock {
  readonly connection: Connection
  readonly isShared: boolean
  readonly journalId: string | undefined
  /** Called when the session that has the lock ends. */
  readonly onEnd: () => void
  /** Sessions of this process that the server may still take for open, and so for holders of the lock. */
  readonly sessions: Set<Session>
}

/** What identifies a session on its server for good. */
interface Session {
  readonly pid: number
  readonly startedAt: string
}

/** Retries until the lock is acquired or the wait is over. Returns the client whose session has it. */
async function acquire(wanted: WantedLock, patienceMs: number): Promise<Client> {
  let failure: unknown
  const client = await waitFor(
    async () => {
      try {
        failure = undefined
        return await tryAcquire(wanted)
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
  throw new DatabaseInUseError(
    wanted.isShared
      ? 'a gateway process without REDIS_URL already runs on this database: stop it, or set REDIS_URL for it too, ' +
          'because several processes must share their limits'
      : 'another gateway process already runs on this database: stop it, or set REDIS_URL for all of them, ' +
          'because several processes must share their limits',
  )
}

/** The client whose session has the lock; undefined if another process has it. Rejects if another one has the journal. */
async function tryAcquire({
  connection,
  isShared,
  journalId,
  onEnd,
  sessions,
}: WantedLock): Promise<Client | undefined> {
  const client = new Client({ ...toClientConfig(connection), query_timeout: 5000 })
  let acquired = false
  client.on('error', () => {})
  client.on('end', () => {
    if (acquired) onEnd()
  })
  try {
    await client.connect()
    // The server notices the loss of this machine within half a minute, instead of hours, and frees the journal for its restart.
    await client.query(
      'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4',
    )
    // A connection may break after the lock was acquired and before the answer came.
    for (const session of sessions) {
      await endSession(client, session)
      sessions.delete(session)
    }
    sessions.add(await readSession(client))
    const isFree = await tryLock(client, isShared ? '_shared' : '', 'rideau.instance')
    if (isFree && journalId !== undefined && !(await tryLock(client, '', `rideau.journal ${journalId}`))) {
      throw new JournalInUseError('another gateway process writes its journal in this folder')
    }
    acquired = isFree
    return isFree ? client : undefined
  } finally {
    if (!acquired) await client.end().catch(() => {})
  }
}

async function readSession(client: Client): Promise<Session> {
  const { rows } = await client.query<Session>(
    `select pid, extract(epoch from backend_start)::text as "startedAt" from pg_stat_activity where pid = pg_backend_pid()`,
  )
  return rows[0] as Session
}

async function endSession(client: Client, { pid, startedAt }: Session): Promise<void> {
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and extract(epoch from backend_start)::text = $2',
    [pid, startedAt],
  )
}

async function tryLock(client: Client, kind: '' | '_shared', name: string): Promise<boolean> {
  const { rows } = await client.query<{ acquired: boolean }>(
    `select pg_try_advisory_lock${kind}(hashtextextended($1, 0)) as acquired`,
    [name],
  )
  return rows[0]?.acquired === true
}
