import { insertAuditEntry } from '../storage/audit-log.ts'
import type { Db } from '../storage/pool.ts'
import { inTenantScope, widenTenantScope } from '../storage/tenant-scope.ts'
import type { Admission } from './access.ts'
import { findBefore, reachOf, toAuditEntry } from './audit-log/to-audit-entry.ts'
import type { Caller } from './caller.ts'
import type { Answer, Operation, Services } from './operation.ts'
import { openCursor, signCursor } from './signed-cursor.ts'

/** What the call brings, validated; see Call in operation.ts. */
interface Input {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly caller: Caller
  readonly answer: Answer
}

/**
 * Runs an admitted operation. What an actor does is one transaction that reaches its resource's organization only
 * (tenant-scope.ts) and holds the audit entry beside the write: neither is there without the other. What a public
 * operation does belongs to no organization at first and has transactions of its own: the entry follows, before the
 * answer.
 */
export async function runOperation(
  services: Services,
  operation: Operation,
  admission: Admission,
  input: Input,
  requestId: string,
): Promise<unknown> {
  const reach = reachOf(admission)
  const query = openCursor(input.query, services.secretBox)
  const run = async (db: Db): Promise<unknown> => {
    const call = { services: { ...services, db }, ...input, query, ...admission }
    const before = operation.method === 'GET' ? undefined : await findBefore(operation, call, admission)
    const result = await operation.handle(call)
    const entry = toAuditEntry(operation, call, admission, before, result, input.caller.address, requestId)
    if (entry === undefined) return signCursor(result, services.secretBox)
    for (const made of entry.orgIds.filter(orgId => !reach.includes(orgId))) await widenTenantScope(db, made)
    await insertAuditEntry(db, entry, services)
    return result
  }
  if (admission.actor === undefined) return await run(services.wholeDb)
  return await inTenantScope(services.wholeDb, reach, run)
}
