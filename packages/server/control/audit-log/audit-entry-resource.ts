import type { AuditEntryRow } from '../../storage/events/audit-log.ts'
import { dateTime, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const AuditEntryResource = z
  .strictObject({
    id: uuid,
    org_id: uuid,
    created_at: dateTime,
    /** `name`: a member's e-mail address or a management key's name at that time. */
    actor: z.strictObject({
      kind: z
        .enum(['member', 'management_key', 'anonymous', 'system'])
        .meta({ description: '`system`: an automatic event, such as `budget.alert`.' }),
      id: uuid.nullable(),
      name: z.string().nullable(),
    }),
    operation: z.string(),
    resource: z.strictObject({ kind: z.string(), id: uuid.nullable() }),
    before: z
      .unknown()
      .meta({ description: 'The record before the operation, without secrets; null if there was none.' }),
    after: z.unknown().meta({ description: 'The result of the operation, without secrets.' }),
    client_address: z.string().meta({ description: 'Empty for the actor `system`.' }),
    request_id: uuid,
  })
  .meta({ id: 'AuditEntry' })

export function toAuditEntryResource(row: AuditEntryRow): z.output<typeof AuditEntryResource> {
  return {
    id: row.id,
    org_id: row.org_id,
    created_at: row.at.toISOString(),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    operation: row.operation,
    resource: { kind: row.resource_kind, id: row.resource_id },
    before: row.before,
    after: row.after,
    client_address: row.client_address,
    request_id: row.request_id,
  }
}
