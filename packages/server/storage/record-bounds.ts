import { type RawBuilder, sql } from 'kysely'
import type { Db } from './pool.ts'

/** Which records are counted together. */
export interface CountedRecords {
  readonly table:
    | 'keys'
    | 'management_keys'
    | 'provider_credentials'
    | 'model_aliases'
    | 'custom_models'
    | 'plans'
    | 'limits'
    | 'quotas'
    | 'budgets'
    | 'webhooks'
    | 'members'
    | 'projects'
  readonly owner: 'environment_id' | 'project_id' | 'org_id'
  /** Which rows count. */
  readonly where?: 'active' | 'not deleted' | 'without environment' | 'without project'
}

/** True if the owner has more than `most` of the records. */
export async function hasMoreRecords(
  db: Db,
  { table, owner, where }: CountedRecords,
  ownerId: string,
  most: number,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)}
    where ${sql.ref(owner)} = ${ownerId} and ${toCondition(where, now)} offset ${most} limit 1`.execute(db)
  return rows.length > 0
}

/** What the requests of one key, end user or the like are bound by, of one owner. */
export interface Binding {
  readonly table: 'limits' | 'quotas' | 'budgets'
  readonly owner: 'environment_id' | 'project_id' | 'org_id'
  /** The rules of the organization itself have no project. */
  readonly ofOrganization: boolean
  readonly ownerId: string
  /** Of one of the rules. */
  readonly id: string
}

/** True if the owner has more than `most` rules that bind the same as one of them. */
export async function hasMoreRules(
  db: Db,
  { table, owner, ofOrganization, ownerId, id }: Binding,
  most: number,
): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)}
    where ${sql.ref(owner)} = ${ownerId} and ${ofOrganization ? sql`project_id is null` : sql`true`}
      and row(scope, counted_ref) is not distinct from (select row(scope, counted_ref) from ${sql.table(table)} where id = ${id})
    offset ${most} limit 1`.execute(db)
  return rows.length > 0
}

function toCondition(where: CountedRecords['where'], now: Date): RawBuilder<unknown> {
  switch (where) {
    case 'active':
      return sql`revoked_at is null and (expires_at is null or expires_at > ${now})`
    case 'not deleted':
      return sql`deleted_at is null`
    case 'without environment':
      return sql`environment_id is null`
    case 'without project':
      return sql`project_id is null`
    case undefined:
      return sql`true`
  }
}

/** What a record takes in a snapshot besides its long texts. */
const RECORD_BYTES = 300

/**
 * Returns about how many bytes the texts of an environment take in its snapshot that its members wrote: allow-lists, aliases, custom
 * models, and credentials without their providers' lists of models.
 */
export async function measureEnvironment(db: Db, id: string): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select
    (select coalesce(sum(octet_length(array_to_string(allowed_models, '')) + 3 * cardinality(allowed_models)), 0)
      from environments where id = ${id})
    + (select coalesce(sum(${RECORD_BYTES}::int
        + coalesce(octet_length(array_to_string(allowed_models, '')) + 3 * cardinality(allowed_models), 0)), 0)
      from plans where environment_id = ${id} and deleted_at is null)
    + (select coalesce(sum(${RECORD_BYTES}::int + octet_length(targets::text)), 0)
      from model_aliases where environment_id = ${id})
    + (select coalesce(sum(${RECORD_BYTES}::int + octet_length(model) + coalesce(octet_length(pricing::text), 0)), 0)
      from custom_models where environment_id = ${id})
    + (select coalesce(sum(${RECORD_BYTES}::int + octet_length(options::text) + 2 * octet_length(secret_cipher)
        + coalesce(octet_length(base_url), 0)), 0)
      from provider_credentials where environment_id = ${id}) as bytes`.execute(db)
  return Number(rows[0]?.bytes)
}
