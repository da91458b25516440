import { Kysely, PostgresDialect } from 'kysely'
import { type ClientBase, Pool, types } from 'pg'
import { type Connection, toClientConfig } from './connection.ts'
import { paceResults } from './paced-results.ts'
import type { Database } from './schema.ts'

export type Db = Kysely<Database>

const INT8 = 20

export interface PoolOptions {
  /** Most connections at once; 10 by default. */
  readonly max?: number
  /**
   * A query that takes longer fails, on the server too, which ends it a little earlier. If the server does not answer, its connection is
   * closed. 0: no timeout. 30 seconds by default.
   */
  readonly queryTimeoutMs?: number
}

/**
 * A pool of connections. An idle connection that breaks is logged and replaced. One that is given back while a statement runs on it is
 * closed: the next statement would wait for that one. The caller ends the pool.
 */
export function openPool(
  connection: Connection,
  log: (line: string) => void,
  { max = 10, queryTimeoutMs = 30_000 }: PoolOptions = {},
): Pool {
  const pool = new Pool({
    ...toClientConfig(connection),
    max,
    query_timeout: queryTimeoutMs,
    types: TYPES,
    onConnect: client => {
      paceResults(client)
      return boundSession(client, queryTimeoutMs)
    },
  })
  pool.on('error', error => log(`database connection lost: ${error.message}`))
  // The pool listens to idle connections only. One that breaks while it is lent fails the query of who has it, now or next;
  // its event without a listener would end the process.
  pool.on('connect', client => {
    client.on('error', () => {})
  })
  pool.on('release', (_error, client) => {
    if (isBusy(client)) void client.end()
  })
  return pool
}

/** Of a client's timeout. The rest is for the answer. */
const SERVER_SHARE = 0.95
/** How long a session may do nothing, in a transaction or outside. A pool closes what it has not lent after 10 s. */
const IDLE = '60s'

/**
 * Bounds what a session may leave behind on the server. A statement that nobody waits for would go on, and the locks of a machine that
 * vanished would last until the server's TCP notices, two hours by default; through PgBouncer it never does while that lives.
 * By SET, since PgBouncer refuses such parameters of a connection.
 */
async function boundSession(client: ClientBase, queryTimeoutMs: number): Promise<void> {
  await client.query(
    `set statement_timeout = ${Math.ceil(queryTimeoutMs * SERVER_SHARE)};
    set idle_in_transaction_session_timeout = '${IDLE}'; set idle_session_timeout = '${IDLE}';
    set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4`,
  )
}

/** pg gives up a statement by its timeout without ending it. Its types do not have the field. */
function isBusy(client: ClientBase): boolean {
  const { _activeQuery: running } = client as { _activeQuery?: unknown }
  return running !== null && running !== undefined
}

/** A query builder on the pool. The pool's owner ends the pool. */
export function openDatabase(pool: Pool): Db {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

/** Reads int8 as number: counts and nano-dollars fit. Set on the pool, so that other users of pg keep its defaults. */
const TYPES: { getTypeParser: typeof types.getTypeParser } = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? toSafeInteger
      : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
}

function toSafeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`int8 ${text} is not a safe integer: a number cannot hold it exactly`)
  }
  return value
}
