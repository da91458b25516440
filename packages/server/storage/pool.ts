import { Kysely, PostgresDialect } from 'kysely'
import { Pool, types } from 'pg'
import { type Connection, toClientConfig } from './connection.ts'
import type { Database } from './schema.ts'

export type Db = Kysely<Database>

const INT8 = 20

export interface PoolOptions {
  /** Most connections at once; 10 by default. */
  readonly max?: number
  /** A query that takes longer fails, and its connection is closed. 0: no timeout. 30 seconds by default. */
  readonly queryTimeoutMs?: number
}

/** A pool of connections. An idle connection that breaks is logged and replaced. The caller ends the pool. */
export function openPool(
  connection: Connection,
  log: (line: string) => void,
  { max = 10, queryTimeoutMs = 30_000 }: PoolOptions = {},
): Pool {
  const pool = new Pool({ ...toClientConfig(connection), max, query_timeout: queryTimeoutMs, types: TYPES })
  pool.on('error', error => log(`database connection lost: ${error.message}`))
  // The pool listens to idle connections only. One that breaks while it is lent fails the query of who has it, now or next;
  // its event without a listener would end the process.
  pool.on('connect', client => {
    client.on('error', () => {})
  })
  return pool
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
