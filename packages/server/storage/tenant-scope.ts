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

/**
 * Runs `work` on a Db that reads and writes rows of these organizations only, by row-level security
 * (migrations/0001-initial/row-security.ts).
 *
 * All statements of `work` are one transaction, which begins with the first of them and is rolled back if `work` throws.
 * A `transaction()` inside it is a savepoint. A connection is in use from the first statement on, so requests to other
 * hosts belong before it.
 */
export async function inTenantScope<Result>(
  db: Db,
  orgIds: readonly string[],
  work: (scoped: Db) => Promise<Result>,
): Promise<Result> {
  let opened: Promise<ControlledTransaction<Database>> | undefined
  const scoped = new Kysely<Database>({
    dialect: createSavepointDialect({
      async executeQuery<Row>(query: CompiledQuery) {
        opened ??= beginScope(db, orgIds)
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
  }
}

/** Adds an organization to the scope, for the transaction that creates it. */
export async function extendTenantScope(scoped: Db, orgId: string): Promise<void> {
  await sql`select rideau_enter_also(${orgId})`.execute(scoped)
}

async function beginScope(db: Db, orgIds: readonly string[]): Promise<ControlledTransaction<Database>> {
  const tx = await db.startTransaction().execute()
  try {
    await sql`select rideau_enter(${`{${orgIds.join(',')}}`})`.execute(tx)
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
