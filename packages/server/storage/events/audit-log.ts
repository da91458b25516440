import { type Selectable, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { cutJson } from '../../core/records/cut-json.ts'
import type { AuditLogTable } from '../event-tables.ts'
import { type Page, selectPage } from '../page.ts'
import type { Db } from '../pool.ts'

/** Who did what to which resource, and from where. */
export interface AuditEntry {
  /** Each organization gets the entry. Signing in, for example, concerns all organizations of a person. */
  readonly orgIds: readonly string[]
  readonly actor: { readonly kind: AuditLogTable['actor_kind']; readonly id: string | null }
  readonly operation: string
  readonly resource: { readonly kind: string; readonly id: string | null }
  /** The resource before and after, as JSON without secrets. Each is stored in at most MAX_STATE_BYTES. */
  readonly before: unknown
  readonly after: unknown
  readonly clientAddress: string
  readonly requestId: string
}

/** Half of what an entry may take, which is what a record of a request may take too. */
const MAX_STATE_BYTES = 32 * 1024

/**
 * Inserts the entry for each of its organizations. It stores the actor's current name too, because the actor may be
 * renamed or removed later.
 */
export async function insertAuditEntry(
  db: Db,
  { actor, ...entry }: AuditEntry,
  { clock, newId }: { readonly clock: Clock; readonly newId: () => string },
): Promise<void> {
  for (const orgId of entry.orgIds) {
    await db
      .insertInto('audit_log')
      .values({
        id: newId(),
        at: new Date(clock.now()),
        org_id: orgId,
        actor_kind: actor.kind,
        actor_id: actor.id,
        actor_name: sql<string | null>`case ${actor.kind}::text
          when 'management_key' then (select name from management_keys where id = ${actor.id}::uuid)
          when 'member' then (select email from users where id = ${actor.id}::uuid) end`,
        operation: entry.operation,
        resource_kind: entry.resource.kind,
        resource_id: entry.resource.id,
        before: toJson(entry.before),
        after: toJson(entry.after),
        client_address: entry.clientAddress,
        request_id: entry.requestId,
      })
      .execute()
  }
}

function toJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(cutJson(value, MAX_STATE_BYTES))
}

export type AuditEntryRow = Selectable<AuditLogTable>

export interface AuditFilter {
  readonly actorId?: string | undefined
  readonly operation?: string | undefined
  readonly resourceId?: string | undefined
  /** Inclusive. */
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/** Entries of an organization that match every field of the filter. */
export async function listAuditLog(
  db: Db,
  orgId: string,
  { actorId, operation, resourceId, from, to }: AuditFilter,
  page: Page,
): Promise<AuditEntryRow[]> {
  let query = db.selectFrom('audit_log').selectAll().where('org_id', '=', orgId)
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId)
  if (operation !== undefined) query = query.where('operation', '=', operation)
  if (resourceId !== undefined) query = query.where('resource_id', '=', resourceId)
  if (from !== undefined) query = query.where('at', '>=', from)
  if (to !== undefined) query = query.where('at', '<', to)
  return await selectPage(query, page, 'at', 'id').execute()
}
