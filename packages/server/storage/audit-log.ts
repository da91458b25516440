import { type Selectable, sql } from 'kysely'
import type { Clock } from '../core/chance.ts'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { AuditLogRow } from './schema.ts'

/** Who did what to which resource, and from where. `before` and `after` are JSON without secrets. */
export interface AuditEntry {
  /** Each gets the entry: signing in touches every organization of a person. */
  readonly orgIds: readonly string[]
  readonly actor: { readonly kind: AuditLogRow['actor_kind']; readonly id: string | null }
  readonly operation: string
  readonly resource: { readonly kind: string; readonly id: string | null }
  readonly before: unknown
  readonly after: unknown
  readonly clientAddress: string
  readonly requestId: string
}

/** The actor's name is kept as it is now: who reads the entry later may find the actor gone or renamed. */
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
  return value === null ? null : JSON.stringify(value)
}

export type StoredAuditEntry = Selectable<AuditLogRow>

export interface AuditFilter {
  readonly actorId?: string | undefined
  readonly operation?: string | undefined
  readonly resourceId?: string | undefined
  /** Inclusive. */
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/** An organization's entries, newest first. */
export async function listAuditLog(
  db: Db,
  orgId: string,
  { actorId, operation, resourceId, from, to }: AuditFilter,
  page: Page,
): Promise<StoredAuditEntry[]> {
  let query = db.selectFrom('audit_log').selectAll().where('org_id', '=', orgId)
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId)
  if (operation !== undefined) query = query.where('operation', '=', operation)
  if (resourceId !== undefined) query = query.where('resource_id', '=', resourceId)
  if (from !== undefined) query = query.where('at', '>=', from)
  if (to !== undefined) query = query.where('at', '<', to)
  return await query
    .where(eb => isAfter(eb, 'at', 'id', page))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}
