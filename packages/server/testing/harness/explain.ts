import { CompiledQuery, type KyselyPlugin } from 'kysely'
import { escapeLiteral, type Pool, type QueryConfig } from 'pg'
import type { Db } from '../../storage/pool.ts'

/** A statement as PostgreSQL gets it. */
export interface SentStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Returns a Db that runs statements on `db` and adds them to `sent`. */
export function recordQueries(db: Db, sent: SentStatement[]): Db {
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
      sent.push({ text: sql, values: parameters })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return db.withPlugin(plugin)
}

/** Returns what queries `pool` and adds the statements to `sent`. */
export function recordPool(pool: Pool, sent: SentStatement[]): Pool {
  const query = async (config: QueryConfig) => {
    sent.push({ text: config.text, values: config.values ?? [] })
    return await pool.query(config)
  }
  return { query } as Pool
}

/**
 * Runs a statement on `tx`, a transaction or the Db of a tenant scope, and returns PostgreSQL's plan. `generic`: the plan that a named
 * statement gets after some uses, which is the same whatever its parameters are. `custom`: the plan for these parameters.
 */
export async function explainOn(
  tx: Db,
  kind: 'generic' | 'custom',
  { text, values }: SentStatement,
): Promise<string> {
  const run = (statement: string) => tx.executeQuery<{ 'QUERY PLAN': string }>(CompiledQuery.raw(statement))
  await run(`set local plan_cache_mode = force_${kind}_plan`)
  await run(`prepare explained as ${text}`)
  const given = values.length === 0 ? '' : `(${values.map(toLiteral).join(', ')})`
  const { rows } = await run(
    `explain (analyze, costs off, timing off, summary off) execute explained${given}`,
  )
  await run('deallocate explained')
  return rows.map(row => row['QUERY PLAN']).join('\n')
}

function toLiteral(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return escapeLiteral(`{${value.map(String).join(',')}}`)
  return escapeLiteral(value instanceof Date ? value.toISOString() : String(value))
}
