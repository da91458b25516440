import { Kysely, PostgresDialect } from 'kysely'
import { Pool, types } from 'pg'
import { type Connection, toClientConfig } from './connection.ts'
import type { Database } from './schema.ts'

export type Db = Kysely<Database>

const INT8 = 20

export interface PoolOptions {
  readonly max?: number
  /** After so long without an answer a query fails and its connection is dropped; 0: never. */
  readonly queryTimeoutMs?: number
}

/** Connections to the database. An idle one that breaks is logged and replaced. */
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

/** Queries over the pool; the pool's owner ends it. */
export function openDatabase(pool: Pool): Db {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

/** int8 as a number: counts and nano-dollars fit. Held by the pool, so that no other user of pg is changed by it. */
const TYPES: { getTypeParser: typeof types.getTypeParser } = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? toSafeInteger
      : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
}

function toSafeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} is past what a number holds exactly`)
  return value
}
