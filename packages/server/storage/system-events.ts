import type { Clock } from '../core/chance.ts'
import { insertAuditEntry } from './audit-log.ts'
import type { Db } from './pool.ts'
import { insertWebhookDeliveries } from './webhook-deliveries.ts'

/** Something that the program itself noticed. */
export interface SystemEvent {
  readonly orgId: string
  readonly type: 'budget.alert' | 'quota.alert' | 'credential.invalid'
  readonly resource: { readonly kind: string; readonly id: string }
  /** JSON without secrets: what the audit log keeps and webhooks send. */
  readonly data: object
}

export interface EventTools {
  readonly clock: Clock
  readonly newId: () => string
}

/** Into the audit log and on the way to webhooks: for the transaction that makes it happen once. */
export async function insertSystemEvent(db: Db, event: SystemEvent, tools: EventTools): Promise<void> {
  const { orgId, type, resource, data } = event
  const entry = {
    orgIds: [orgId],
    actor: { kind: 'system', id: null } as const,
    operation: type,
    resource,
    before: null,
    after: data,
    clientAddress: '',
    requestId: tools.newId(),
  }
  await insertAuditEntry(db, entry, tools)
  await insertWebhookDeliveries(db, { orgId, type, at: tools.clock.now(), data }, tools.newId)
}
