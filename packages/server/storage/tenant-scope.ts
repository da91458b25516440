import {
  CompiledQuery,
  type ControlledTransaction,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import type { Db } from './pool.ts'
import type { Database } from './schema.ts'

/** Waits for the right to use a connection, and resolves with what gives it back. */
export type AdmitScope = () => Promise<() => void>

/** Runs in the transaction of a scope before its first statement. What it throws rolls the transaction back. */
export type EnterScope = (scoped: Db) => Promise<void>

/**
 * Runs `work` on a Db that reads and writes rows of these organizations only, by row-level security
 * (migrations/0001-initial/row-security.ts).
 *
 * All statements of `work` are one transaction, which begins with the first of them and is rolled back if `work` throws.
 * A `transaction()` inside it is a savepoint. A connection is in use from the first statement on, so requests to other
 * hosts belong before it. `admit` is called before, and `enter` in the transaction.
 */
export async function inTenantScope<Result>(
  db: Db,
  orgIds: readonly string[],
  work: (scoped: Db) => Promise<Result>,
  admit: AdmitScope = async () => () => {},
  enter: EnterScope = async () => {},
): Promise<Result> {
  let release: (() => void) | undefined
  const begin = async (): Promise<ControlledTransaction<Database>> => {
    release = await admit()
    return await beginScope(db, orgIds, enter)
  }
  let opened: Promise<ControlledTransaction<Database>> | undefined
  const scoped = new Kysely<Database>({
    dialect: createSavepointDialect({
      async executeQuery<Row>(query: CompiledQuery) {
        opened ??= begin()
        return await (await opened).executeQuery(query as CompiledQuery<Row>)
      },
      streamQuery() {
        throw new Error('stream() is not supported in a tenant scope: use execute()')
      },
    }),
  })
  try {
    const result = await work(scoped)
    if (opened !== undefined) await (await opened).commit().execute()
    return result
  } catch (error) {
    await opened?.then(tx => tx.rollback().execute()).catch(() => {})
    throw error
  } finally {
    release?.()
  }
}

/** Adds an organization to the scope, for the transaction that creates it. */
export async function extendTenantScope(scoped: Db, orgId: string): Promise<void> {
  await sql`select rideau_enter_also(${orgId})`.execute(scoped)
}

async function beginScope(
  db: Db,
  orgIds: readonly string[],
  enter: EnterScope,
): Promise<ControlledTransaction<Database>> {
  const tx = await db.startTransaction().execute()
  try {
    const orgs = `{${orgIds.join(',')}}`
    await sql`select rideau_enter(${orgs})`.execute(tx)
    await enter(tx)
    return tx
  } catch (error) {
    await tx
      .rollback()
      .execute()
      .catch(() => {})
    throw error
  }
}

/** PostgreSQL on a connection that is already in a transaction: a transaction on it is a savepoint. */
function createSavepointDialect(connection: DatabaseConnection): Dialect {
  const run = async (statement: string): Promise<void> => {
    await connection.executeQuery(CompiledQuery.raw(statement))
  }
  const driver: Driver = {
    async init() {},
    acquireConnection: async () => connection,
    beginTransaction: () => run('savepoint within'),
    commitTransaction: () => run('release savepoint within'),
    async rollbackTransaction() {
      await run('rollback to savepoint within')
      await run('release savepoint within')
    },
    async releaseConnection() {},
    async destroy() {},
  }
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: db => new PostgresIntrospector(db),
  }
}
