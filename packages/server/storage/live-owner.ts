import { type RawBuilder, sql } from 'kysely'

/** True for rows that are not marked as deleted themselves. */
export function isNotDeleted(table: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${table}.deleted_at`)} is null`
}

/**
 * True for rows whose organization is not marked as deleted. Organizations and projects are never removed, so their rows
 * are still there after a deletion and every look-up by id has to exclude them.
 */
export function hasLiveOrganization(table: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from organizations o
    where o.id = ${sql.ref(`${table}.org_id`)} and o.deleted_at is null)`
}

/** True for rows whose project and organization are not marked as deleted. */
export function hasLiveProject(table: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from projects p join organizations o on o.id = p.org_id
    where p.id = ${sql.ref(`${table}.project_id`)} and p.deleted_at is null and o.deleted_at is null)`
}

/** True for rows whose project is live or, if their `project_id` is null, whose organization is live. */
export function hasLiveOwner(table: string): RawBuilder<boolean> {
  return sql<boolean>`case when ${sql.ref(`${table}.project_id`)} is null
    then ${hasLiveOrganization(table)} else ${hasLiveProject(table)} end`
}

/** True for projects that are not marked as deleted, and whose organization is not. */
export function isLiveProject(table: string): RawBuilder<boolean> {
  return sql<boolean>`${isNotDeleted(table)} and ${hasLiveOrganization(table)}`
}
