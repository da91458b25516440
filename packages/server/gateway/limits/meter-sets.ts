import { listMeters, type MeterSet } from '../../core/list-meters.ts'
import type { Caller, EndUser, Environment } from '../../core/tenancy.ts'

/** Meter sets cached for one environment at most. */
const MAX_SETS = 20_000

/**
 * The meters of each caller, cached until a window ends or the environment's snapshot is replaced. A change of a policy
 * replaces the snapshot, so the cache is keyed by that object.
 */
export class MeterSets {
  readonly #sets = new WeakMap<Environment, Map<string, MeterSet>>()

  /**
   * Returns the meters that limit a request. `at` is the request's arrival in Unix milliseconds; it selects the
   * calendar windows.
   */
  find(environment: Environment, caller: Caller, endUser: EndUser | undefined, at: number): MeterSet {
    let sets = this.#sets.get(environment)
    if (sets === undefined) {
      sets = new Map()
      this.#sets.set(environment, sets)
    }
    // Client tokens can name a plan, so the same end user may come with different plans.
    const name =
      endUser === undefined ? String(caller.keyId) : JSON.stringify([caller.keyId, endUser.id, endUser.plan])
    const known = sets.get(name)
    if (known !== undefined && known.from <= at && at < known.until) return known
    const { id: environmentId, orgId, projectId, policies } = environment
    const { keyId } = caller
    const set = listMeters(policies, { orgId, projectId, environmentId, keyId, endUser: endUser ?? null }, at)
    // A request that arrived before the window ended does not replace the newer set.
    if (known === undefined || set.until > known.until) {
      if (sets.size >= MAX_SETS) sets.clear()
      sets.set(name, set)
    }
    return set
  }
}
