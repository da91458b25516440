import { Fault } from '../../core/fault.ts'
import type { EndUser, Environment } from '../../core/tenancy/tenancy.ts'
import { within } from '../../http/within.ts'
import type { SeenEndUsers } from '../tenants/seen-end-users.ts'
import type { Snapshots } from '../tenants/snapshots.ts'
import type { MintDeps } from './mint-deps.ts'

/** How long a token waits for the record of its end user. */
const SETTLE_MS = 5_000

export interface AdmitEndUserDeps extends Pick<MintDeps, 'putAttributes'> {
  readonly snapshots: Snapshots
  readonly seenEndUsers: SeenEndUsers
}

/**
 * Returns the end user who gets a token, and gives it a record if it has none. `attributes` is a JSON object; undefined: those
 * of the record stay. Throws 403 `end_user_blocked`.
 */
export async function admitEndUser(
  environment: Environment,
  id: string,
  attributes: string | undefined,
  deps: AdmitEndUserDeps,
): Promise<EndUser> {
  const { snapshots, seenEndUsers } = deps
  const endUser = environment.policies.hasSpecialEndUsers
    ? (snapshots.findEndUser(environment.id, id) ?? (await snapshots.loadEndUser(environment, id)))
    : { id, plan: null, isBlocked: false }
  if (endUser.isBlocked) throw new Fault('end_user_blocked', 'This end user is blocked.')
  if (attributes === undefined) {
    const making = seenEndUsers.note(environment, id)
    // Without an answer of the database the record is made by a later request.
    if (making !== undefined) await within(SETTLE_MS, making, () => new Error('no answer')).catch(() => {})
  } else {
    await putAttributes(environment, id, attributes, deps)
  }
  return endUser
}

async function putAttributes(
  environment: Environment,
  id: string,
  attributes: string,
  deps: AdmitEndUserDeps,
): Promise<void> {
  try {
    await deps.putAttributes(deps.seenEndUsers.toSeen(environment, id), attributes)
  } catch (cause) {
    const message = 'The attributes could not be stored right now. Try again shortly.'
    throw new Fault('config_unavailable', message, { cause, retryAfterSeconds: 1 })
  }
}
