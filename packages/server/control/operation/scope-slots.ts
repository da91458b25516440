import { type Actor, organizationsOf } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import { FairSlots } from '../../http/fairness/fair-slots.ts'
import type { AdmitScope } from '../../storage/tenant-scope.ts'
import type { GrantedAccess } from './granted-access.ts'

/**
 * The transactions of organizations at once. The pool has ten connections (storage/pool.ts): two are left for looking up
 * credentials and for signing in. Of eight free ones an organization gets three.
 */
const BOUNDS = { total: 8, perTenant: 3, perCaller: 3, divisor: 2, waitingPerTenant: 200 }
const WAIT_MS = 10_000

/** Shares the database connections of the control plane fairly between organizations, and between callers. */
export class ScopeSlots {
  readonly #slots = new FairSlots(BOUNDS)

  /**
   * Returns what admits the transactions of a call. It throws `control_rate_limit_exceeded` where none ends in time. Whoever has been admitted
   * must not wait for another slot: callers that each hold one would wait for each other.
   */
  admitBy({ actor, orgId }: Pick<GrantedAccess, 'actor' | 'orgId'>): AdmitScope {
    const caller = `caller ${actor?.id}`
    const tenant = orgId ?? soleOrganizationOf(actor) ?? `of ${caller}`
    return async () => {
      if (!(await this.#slots.acquire(tenant, caller, WAIT_MS))) {
        const message = 'This organization runs too many slow calls at once. Try again in 10 s.'
        throw new Fault('control_rate_limit_exceeded', message, { retryAfterSeconds: WAIT_MS / 1000 })
      }
      return () => this.#slots.release(tenant, caller)
    }
  }

  /** Runs an actor's `work` on the database of all organizations in a slot. It uses one connection at a time. */
  async run<Result>(actor: Actor, work: () => Promise<Result>): Promise<Result> {
    const release = await this.admitBy({ actor, orgId: undefined })()
    try {
      return await work()
    } finally {
      release()
    }
  }
}

/** An organization's slots are shared by its management keys, and by its members that belong to no other. */
function soleOrganizationOf(actor: Actor | undefined): string | undefined {
  const [orgId, ...others] = actor === undefined ? [] : organizationsOf(actor)
  return others.length === 0 ? orgId : undefined
}
