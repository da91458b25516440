import { Fault } from '../../core/fault.ts'
import type { MeterSubject, RollingMeter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { FrontDoor } from '../edge/front-door.ts'
import { describeAmounts } from '../limits/limit-fault.ts'
import { Reservation, type Reservations } from '../limits/reservations.ts'
import type { IdentifiedContext } from '../request/request-context.ts'

export interface MintLimitDeps {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly reservations: Reservations
  readonly frontDoor: FrontDoor
}

const WINDOW_MS = 60_000
const KEY_LIMIT = 120
const ADDRESS_LIMIT = 60

/**
 * The ledger's counters belong to an organization. These belong to none, so that no limit of an organization counts such a
 * request, and an address has one counter whosever keys it uses.
 */
const NOBODY = '00000000-0000-0000-0000-000000000000'

const SUBJECT: MeterSubject = {
  orgId: NOBODY,
  projectId: NOBODY,
  environmentId: NOBODY,
  keyId: NOBODY,
  endUserId: null,
  excludesSandbox: false,
}

const ONE_REQUEST: MeteredUsage = { requests: 1, tokens: 0, nanoUsd: 0, isSandbox: false }

/**
 * Counts a request to a route that makes client tokens: by its key and by its client's address, in all gateway processes
 * together. Throws 429 `mint_rate_limit_exceeded`, and then counts it in neither.
 */
export async function admitMint(ctx: IdentifiedContext, deps: MintLimitDeps): Promise<void> {
  const address = deps.frontDoor.addressOf(ctx.req)
  const meters = [toKeyMeter(ctx.caller.keyId ?? NOBODY), toAddressMeter(address)]
  const nothing = { tokens: 0, nanoUsd: 0 }
  const opening = deps.reservations.open(ctx.id, ctx.arrivedAt, SUBJECT, meters, nothing)
  const verdict = opening instanceof Promise ? await opening : opening
  if (verdict instanceof Reservation) {
    verdict.settle(ONE_REQUEST)
    return
  }
  if ('unavailable' in verdict) {
    const message = 'The limits could not be checked right now. Try again shortly.'
    throw new Fault('config_unavailable', message, { cause: verdict.unavailable, retryAfterSeconds: 1 })
  }
  const { meter, retryAt } = verdict.refusal
  const whose = meter.source.scope === 'key' ? 'This key' : 'This address'
  const message = `${whose} asks for client tokens too often, more than ${meter.limit} times a minute: ${describeAmounts(verdict.refusal)}.`
  const waitMs = (retryAt ?? deps.now() + WINDOW_MS) - deps.now()
  throw new Fault('mint_rate_limit_exceeded', message, { retryAfterSeconds: waitMs / 1000 })
}

function toKeyMeter(keyId: string): RollingMeter {
  return toMeter(`mint:key:${keyId}`, { ...SUBJECT, keyId }, 'key', keyId, KEY_LIMIT)
}

function toAddressMeter(address: string): RollingMeter {
  const endUserId = `mint:address:${address}`
  return toMeter(endUserId, { ...SUBJECT, keyId: null, endUserId }, 'end_user', address, ADDRESS_LIMIT)
}

function toMeter(
  key: string,
  subject: MeterSubject,
  scope: 'key' | 'end_user',
  ref: string,
  limit: number,
): RollingMeter {
  const source = { kind: 'limit', id: key, scope, ref, code: 'mint_rate_limit_exceeded' } as const
  return {
    kind: 'rolling',
    metric: 'requests',
    windowMs: WINDOW_MS,
    key,
    subject,
    source,
    limit,
    nominalLimit: limit,
    alertThresholds: [],
    since: 0,
    changedAt: 0,
  }
}
