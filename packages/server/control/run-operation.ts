import { Fault } from '../core/fault.ts'
import type { Log } from '../core/log.ts'
import { insertAuditEntry } from '../storage/events/audit-log.ts'
import { isMissingReference } from '../storage/missing-reference.ts'
import type { Page } from '../storage/page.ts'
import type { Db } from '../storage/pool.ts'
import { extendTenantScope, inTenantScope } from '../storage/tenant-scope.ts'
import { getBefore, kindOf, reachOf, toAuditEntry } from './audit-log/to-audit-entry.ts'
import { checkGrantBy } from './check-grant.ts'
import type { IdempotentCreates, StoreAnswer } from './idempotency/idempotent-creates.ts'
import type { Caller } from './operation/caller.ts'
import type { CsvPage } from './operation/csv.ts'
import type { GrantedAccess } from './operation/granted-access.ts'
import type { Answer, Operation, Services } from './operation/operation.ts'
import { assertMatch, assertStillMatch, noPreconditions } from './operation/preconditions.ts'
import { assertWithinBounds } from './operation/record-bounds.ts'
import { openCursor, signCursor } from './operation/signed-cursor.ts'

/** What runs a creating call once for its `Idempotency-Key`. */
interface Idempotency {
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

/** An authorized call while it runs. */
interface RunningCall {
  readonly services: Services
  readonly operation: Operation
  readonly granted: GrantedAccess
  readonly input: Input
  readonly requestId: string
  /** The organizations that its transactions reach. */
  readonly reachableOrgIds: readonly string[]
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
  received: Input,
  requestId: string,
  idempotency?: Idempotency,
): Promise<unknown> {
  const query = openCursor(received.query, services.secretBox)
  const input = { ...received, query }
  const reachableOrgIds = reachOf(granted)
  const running = { services, operation, granted, input, requestId, reachableOrgIds }
  const { authorize } = operation
  if (operation.endsSession) await checkGrantBy(services, granted)(services.wholeDb)
  if (authorize !== undefined) await inCallScope(running, db => authorize(toCall(running, db)))
  if (operation.method === 'GET') return await runRead(running)
  assertPrecondition(running)
  const { actor } = granted
  if (idempotency === undefined || actor === undefined) return await runWrite(running)
  const { params, body } = input
  const call = { key: idempotency.key, actor, operation: operation.name, params, query, body }
  const { result, isReplayed } = await idempotency.creates.run({ ...call, reach: reachableOrgIds }, keep =>
    runWrite(running, keep),
  )
  if (isReplayed) input.answer.setReplayed()
  return result
}

async function runRead(running: RunningCall): Promise<unknown> {
  const { services, operation } = running
  const prepared = await prepareCall(running)
  const result = await inCallScope(running, db => operation.handle({ ...toCall(running, db), prepared }))
  return signCursor(result, services.secretBox)
}

/** Runs the change and commits it with its audit entry. `keep` stores the answer in the same transaction. */
async function runWrite(running: RunningCall, keep?: StoreAnswer): Promise<unknown> {
  const { services, operation, granted, input, requestId, reachableOrgIds } = running
  const prepared = await prepareCall(running)
  // A separate transaction, so that a handler that first calls another host holds no connection during that call.
  const before = await inCallScope(running, db => getBefore(operation, toCall(running, db), granted))
  const written = inCallScope(running, async db => {
    // A counter that a write opened would miss the requests that end before its commit (Operation.complete).
    const call = toCall({ ...running, services: { ...services, readMeters: undefined } }, db)
    const kind = kindOf(operation)
    if (input.ifMatch !== undefined && kind !== undefined && granted.resource !== undefined) {
      await assertStillMatch(db, input.ifMatch, kind, granted.resource)
    }
    const result = await operation.handle({ ...call, prepared })
    await assertWithinBounds(call.services, operation.name, granted.resource, result)
    const entry = toAuditEntry(operation, call, granted, before, result, input.caller.address, requestId)
    if (entry === undefined) return result
    const createdOrgIds = entry.orgIds.filter(orgId => !reachableOrgIds.includes(orgId))
    for (const orgId of createdOrgIds) await extendTenantScope(db, orgId)
    await insertAuditEntry(db, entry, services)
    await keep?.(db, entry.orgIds[0] as string, result)
    return result
  })
  return await written.catch(error => {
    // What a removal leaves behind is an error of ours.
    if (operation.method === 'DELETE' || !isMissingReference(error)) throw error
    const message = 'A resource that this one belongs to, or that it names, was deleted meanwhile.'
    throw new Fault('resource_not_found', message, { cause: error })
  })
}

/** Returns the result of an operation as its `complete` completes it. Call it once the change is in force. */
export async function completeAnswer(
  services: Services,
  operation: Operation,
  granted: GrantedAccess,
  input: Input,
  result: unknown,
  log: Pick<Log, 'warn'>,
): Promise<unknown> {
  const { complete } = operation
  if (complete === undefined || services.readMeters === undefined) return result
  const running = { services, operation, granted, input, reachableOrgIds: reachOf(granted) }
  try {
    return await inCallScope(running, db => complete(toCall(running, db), result))
  } catch (error) {
    // A failure would have the caller repeat what was made.
    log.warn({ err: error, operation: operation.name }, 'the answer of a change could not be completed')
    return result
  }
}

async function prepareCall(running: RunningCall): Promise<unknown> {
  const { prepare } = running.operation
  return prepare === undefined ? undefined : await inCallScope(running, db => prepare(toCall(running, db)))
}

/** Throws if the call has an `If-Match` that its route does not take or its resource does not match. */
function assertPrecondition({ operation, granted, input }: RunningCall): void {
  if (input.ifMatch === undefined) return
  if (kindOf(operation) === undefined) throw noPreconditions()
  assertMatch(input.ifMatch, granted.resource)
}

/** Returns the argument of the operation's functions. */
function toCall({ services, input, granted }: Pick<RunningCall, 'services' | 'input' | 'granted'>, db: Db) {
  return { services: { ...services, db }, ...input, ...granted }
}

/** Runs `work` in a transaction that reaches the organizations of the call; of a public call on the whole database. */
function inCallScope<Result>(
  { services, operation, granted, reachableOrgIds }: Omit<RunningCall, 'input' | 'requestId'>,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  if (granted.actor === undefined) return work(services.wholeDb)
  const enter = operation.endsSession ? undefined : checkGrantBy(services, granted)
  const admit = services.scopeSlots.admitBy(granted)
  return inTenantScope(services.wholeDb, reachableOrgIds, work, admit, enter)
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
