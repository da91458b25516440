import { organizationsOf } from '../../core/access/permissions.ts'
import type { AuditEntry } from '../../storage/events/audit-log.ts'
import type { GrantedAccess } from '../operation/granted-access.ts'
import type { Operation } from '../operation/operation.ts'
import { hasTag } from '../operation/preconditions.ts'
import type { ResourceKind, Resources } from '../operation/resources.ts'
import { maskSecrets } from './mask-secrets.ts'
import { FORMS } from './resource-forms.ts'

/** True if the operation acts on the resource that its path names, not on something below it. */
export function actsOnItsResource({ name, access }: Operation): boolean {
  return typeof access === 'object' && access.of !== 'actor' && FORMS[access.of].noun === nounOf(name)
}

/** The kind of the record that the operation shows or changes, if it has an entity tag. */
export function kindOf(operation: Operation): ResourceKind | undefined {
  if (!actsOnItsResource(operation)) return undefined
  const { of } = operation.access as { readonly of: ResourceKind }
  return hasTag(of) ? of : undefined
}

/** Returns the state before the operation: from the operation's own `before`, or the resource of the path. */
export async function getBefore(
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

/** Returns the audit entry of a successful call; undefined if the operation changes nothing. */
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

/** Returns the organizations that an authorized call may reach: the one of its resource, or all of the actor's. */
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
