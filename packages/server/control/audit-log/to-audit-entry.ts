import { organizationsOf } from '../../core/permissions.ts'
import type { AuditEntry } from '../../storage/audit-log.ts'
import type { GrantedAccess } from '../operation/granted-access.ts'
import type { Operation } from '../operation/operation.ts'
import type { ResourceKind, Resources } from '../operation/resources.ts'
import { maskSecrets } from './mask-secrets.ts'
import { FORMS } from './resource-forms.ts'

/** Does the operation act on the very resource that its path names, and not on something below it? */
export function actsOnItsResource({ name, access }: Operation): boolean {
  return typeof access === 'object' && access.of !== 'actor' && FORMS[access.of].noun === nounOf(name)
}

/** The resource before the operation: the one that was resolved, or what the operation itself says. */
export async function findBefore(
  operation: Operation,
  call: unknown,
  granted: GrantedAccess,
): Promise<unknown> {
  if (operation.before !== undefined) return await operation.before(call)
  if (!actsOnItsResource(operation)) return undefined
  const { of } = operation.access as { readonly of: ResourceKind }
  const toRecord = FORMS[of].toRecord as (row: Resources[ResourceKind] | undefined) => unknown
  return toRecord(granted.resource)
}

/** What the audit log keeps of a successful call; undefined where the operation changes nothing. */
export function toAuditEntry(
  operation: Operation,
  call: unknown,
  granted: GrantedAccess,
  before: unknown,
  result: unknown,
  clientAddress: string,
  requestId: string,
): AuditEntry | undefined {
  if (operation.audit === 'none') return undefined
  const subject = operation.audit?.(call, result)
  const actor = subject?.actor ?? granted.actor
  const pathId = idOf(granted.resource)
  return {
    orgIds: subject?.orgIds ?? reachOf(granted),
    actor: { kind: actor?.kind ?? 'anonymous', id: actor?.id ?? null },
    operation: operation.name,
    resource: {
      kind: nounOf(operation.name),
      id: subject?.resourceId ?? (actsOnItsResource(operation) ? pathId : (idOf(result) ?? pathId)) ?? null,
    },
    before: maskSecrets(before),
    after: maskSecrets(result),
    clientAddress,
    requestId,
  }
}

/** The organizations that an admitted call may reach: its resource's, else all of the actor's. */
export function reachOf({ actor, orgId }: GrantedAccess): readonly string[] {
  if (orgId !== undefined) return [orgId]
  return actor === undefined ? [] : organizationsOf(actor)
}

function nounOf(operationName: string): string {
  return operationName.slice(0, operationName.indexOf('.'))
}

function idOf(value: unknown): string | undefined {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
  return typeof id === 'string' ? id : undefined
}
