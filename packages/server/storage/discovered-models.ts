import { sql } from 'kysely'
import type { Db } from './pool.ts'

/** The most names that the providers' lists may add to one environment, and their most bytes: every gateway worker holds them. */
const MAX_DISCOVERED = 20_000
const MAX_DISCOVERED_BYTES = 1024 * 1024

const BYTES = `octet_length(array_to_string(discovered_models, ''))`

/**
 * SQL: the credentials of an environment, each with `bounded_models`, its provider's list. The oldest credentials' lists count first; one
 * that passes a bound with those before it is empty. Lists are cut when they are written too (`cutToRoom`), but two that are written at
 * once know nothing of each other, and earlier versions did not bound their bytes.
 */
export function withBoundedModels(environmentId: string): string {
  return `(select *, case when sum(cardinality(discovered_models)) over older <= ${MAX_DISCOVERED}
      and sum(${BYTES}) over older <= ${MAX_DISCOVERED_BYTES} then discovered_models else '{}' end as bounded_models
    from provider_credentials where environment_id = ${environmentId}
    window older as (order by created_at, id))`
}

/** Returns the first of the models that the environment has room for beside the lists of its other credentials than `id`. */
export async function cutToRoom(
  db: Db,
  environmentId: string,
  id: string,
  models: readonly string[],
): Promise<string[]> {
  if (models.length === 0) return []
  const { rows } = await sql<{ names: number; bytes: number }>`
    select coalesce(sum(cardinality(discovered_models)), 0)::int as names, coalesce(sum(${sql.raw(BYTES)}), 0)::int as bytes
      from provider_credentials where environment_id = ${environmentId} and id <> ${id}`.execute(db)
  const { names = 0, bytes = 0 } = rows[0] ?? {}
  let room = MAX_DISCOVERED_BYTES - bytes
  const kept: string[] = []
  for (const model of models.slice(0, Math.max(0, MAX_DISCOVERED - names))) {
    room -= Buffer.byteLength(model)
    if (room < 0) break
    kept.push(model)
  }
  return kept
}
