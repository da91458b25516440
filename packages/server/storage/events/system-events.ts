import type { Clock } from '../../core/clock.ts'
import type { Db } from '../pool.ts'
import { insertAuditEntry } from './audit-log.ts'
import { insertWebhookDeliveries } from './webhook-deliveries.ts'

/** Something that the program itself detected. */
export interface SystemEvent {
  readonly orgId: string
  readonly type: 'budget.alert' | 'quota.alert' | 'credential.invalid' | 'circuit.open'
  readonly resource: { readonly kind: string; readonly id: string }
  /** JSON without secrets, for the audit log and for webhooks. */
  readonly data: object
}

export interface EventDeps {
  readonly clock: Clock
  readonly newId: () => string
}

/**
 * Writes the event to the audit log and queues it for webhooks. For the caller's transaction, which makes sure that the
 * event occurs once.
 */
export async function insertSystemEvent(db: Db, event: SystemEvent, deps: EventDeps): Promise<void> {
  const { orgId, type, resource, data } = event
  const entry = {
    orgIds: [orgId],
    actor: { kind: 'system', id: null } as const,
    operation: type,
    resource,
    before: null,
    after: data,
    clientAddress: '',
    requestId: deps.newId(),
  }
  await insertAuditEntry(db, entry, deps)
  await insertWebhookDeliveries(db, { orgId, type, at: deps.clock.now(), data }, deps.newId)
}
