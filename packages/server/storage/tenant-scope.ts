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
 * Runs `work` on a Db that reaches rows of these organizations and no others, by row-level security (migration 0007).
 * All of it is one transaction, which begins with the first statement: what the work throws undoes what it wrote.
 * A `transaction()` within is a savepoint. Who asks another host should do so before the first statement, because a
 * connection is held from there on.
 */
export async function inTenantScope<Result>(
  db: Db,
  orgIds: readonly string[],
  work: (scoped: Db) => Promise<Result>,
): Promise<Result> {
  let opened: Promise<ControlledTransaction<Database>> | undefined
  const scoped = new Kysely<Database>({
    dialect: dialectOver({
      async executeQuery<Row>(query: CompiledQuery) {
        opened ??= enter(db, orgIds)
        return await (await opened).executeQuery(query as CompiledQuery<Row>)
      },
      streamQuery() {
        throw new Error('a tenant scope does not stream')
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

/** Lets the scope reach an organization that it is about to make. */
export async function widenTenantScope(scoped: Db, orgId: string): Promise<void> {
  await sql`select rideau_enter_also(${orgId})`.execute(scoped)
}

async function enter(db: Db, orgIds: readonly string[]): Promise<ControlledTransaction<Database>> {
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

/** PostgreSQL over a connection that is in a transaction already: another one within it is a savepoint. */
function dialectOver(connection: DatabaseConnection): Dialect {
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
