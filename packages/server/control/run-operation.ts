import { insertAuditEntry } from '../storage/audit-log.ts'
import type { Page } from '../storage/page.ts'
import type { Db } from '../storage/pool.ts'
import { extendTenantScope, inTenantScope } from '../storage/tenant-scope.ts'
import { findBefore, kindOf, reachOf, toAuditEntry } from './audit-log/to-audit-entry.ts'
import { checkGrantBy } from './check-grant.ts'
import type { IdempotentCreates, KeepAnswer } from './idempotency/idempotent-creates.ts'
import type { Caller } from './operation/caller.ts'
import type { CsvPage } from './operation/csv.ts'
import type { GrantedAccess } from './operation/granted-access.ts'
import type { Answer, Operation, Services } from './operation/operation.ts'
import { assertMatch, assertStillMatch, noPreconditions } from './operation/preconditions.ts'
import { assertWithinBounds } from './operation/record-bounds.ts'
import { openCursor, signCursor } from './operation/signed-cursor.ts'

/** The key of a creating call, and what runs such calls once. */
interface Once {
  readonly creates: IdempotentCreates
  readonly key: string
}

/** The validated input of a call; see Call in operation.ts. */
interface Input {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly caller: Caller
  readonly answer: Answer
  /** The header `If-Match`. */
  readonly ifMatch?: string | undefined
}

/**
 * Runs an authorized operation. The operation of an actor runs in one transaction that reaches only the organization of
 * its resource (tenant-scope.ts) and contains the audit entry: the write and its entry commit together. A public
 * operation belongs to no organization at first and opens its own transactions; its audit entry is written afterwards,
 * before the response. Each transaction first looks again whether the actor still has its right: a body may have taken a
 * minute to arrive, and another host seconds to answer. An operation that ends the caller's session looks once, before it does.
 */
export async function runOperation(
  services: Services,
  operation: Operation,
  granted: GrantedAccess,
  input: Input,
  requestId: string,
  once?: Once,
): Promise<unknown> {
  const reach = reachOf(granted)
  const { wholeDb, secretBox, scopeSlots } = services
  const query = openCursor(input.query, secretBox)
  const callOn = (db: Db) => ({ services: { ...services, db }, ...input, query, ...granted })
  const check = checkGrantBy(services, granted)
  const enter = operation.endsSession ? undefined : check
  const scope = <Result>(work: (db: Db) => Promise<Result>): Promise<Result> =>
    granted.actor === undefined
      ? work(wholeDb)
      : inTenantScope(wholeDb, reach, work, scopeSlots.admitBy(granted), enter)
  if (operation.endsSession) await check(wholeDb)
  const { authorize, prepare } = operation
  if (authorize !== undefined) await scope(db => authorize(callOn(db)))
  const { ifMatch } = input
  const kind = operation.method === 'GET' ? undefined : kindOf(operation)
  if (ifMatch !== undefined && operation.method !== 'GET') {
    if (kind === undefined) throw noPreconditions()
    assertMatch(ifMatch, granted.resource)
  }
  const run = async (keep?: KeepAnswer): Promise<unknown> => {
    const prepared = prepare === undefined ? undefined : await scope(db => prepare(callOn(db)))
    if (operation.method === 'GET') {
      return signCursor(await scope(db => operation.handle({ ...callOn(db), prepared })), secretBox)
    }
    // A separate transaction, so that a handler that first calls another host holds no connection during that call.
    const before = await scope(db => findBefore(operation, callOn(db), granted))
    return await scope(async db => {
      const call = callOn(db)
      if (ifMatch !== undefined && kind !== undefined && granted.resource !== undefined) {
        await assertStillMatch(db, ifMatch, kind, granted.resource.id)
      }
      const result = await operation.handle({ ...call, prepared })
      await assertWithinBounds(call.services, operation.name, granted.resource, result)
      const entry = toAuditEntry(operation, call, granted, before, result, input.caller.address, requestId)
      if (entry === undefined) return result
      for (const made of entry.orgIds.filter(orgId => !reach.includes(orgId)))
        await extendTenantScope(db, made)
      await insertAuditEntry(db, entry, services)
      await keep?.(db, entry.orgIds[0] as string, result)
      return result
    })
  }
  if (once === undefined || granted.actor === undefined) return await run()
  const { actor } = granted
  const { params, body } = input
  const call = { key: once.key, actor, operation: operation.name, params, query, body, reach }
  const { result, isReplayed } = await once.creates.run(call, run)
  if (isReplayed) input.answer.setReplayed()
  return result
}

/** Reads a page of an operation's file (sendCsvFile), in the scope of the resource's organization. */
export async function loadCsvPage(
  services: Services,
  csvFile: NonNullable<Operation['csvFile']>,
  granted: GrantedAccess,
  input: Input,
  after: Page['after'],
): Promise<CsvPage> {
  return await inTenantScope(
    services.wholeDb,
    reachOf(granted),
    db => csvFile.page({ services: { ...services, db }, ...input, ...granted }, after),
    services.scopeSlots.admitBy(granted),
    checkGrantBy(services, granted),
  )
}
