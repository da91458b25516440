import { listMeters, type MeterSet } from '../../core/list-meters.ts'
import type { Caller, EndUser, Environment } from '../../core/tenancy.ts'

/** Sets kept for one environment at most. */
const MAX_SETS = 20_000

/**
 * The meters of each caller, made once and kept until a window ends or the environment's snapshot is replaced: a change
 * of a policy announces the environment, so that the next request meets a new object here.
 */
export class MeterSets {
  readonly #sets = new WeakMap<Environment, Map<string, MeterSet>>()

  /** `at` is the instant whose calendar windows count: when the request arrived. */
  find(environment: Environment, caller: Caller, endUser: EndUser | undefined, at: number): MeterSet {
    let sets = this.#sets.get(environment)
    if (sets === undefined) {
      sets = new Map()
      this.#sets.set(environment, sets)
    }
    // A plan may be set in a client token: the same end user can come with another.
    const name =
      endUser === undefined ? String(caller.keyId) : JSON.stringify([caller.keyId, endUser.id, endUser.plan])
    const known = sets.get(name)
    if (known !== undefined && known.from <= at && at < known.until) return known
    const { id: environmentId, orgId, projectId, policies } = environment
    const { keyId } = caller
    const set = listMeters(policies, { orgId, projectId, environmentId, keyId, endUser: endUser ?? null }, at)
    // A request that is late for a window that has ended leaves the newer set in its place.
    if (known === undefined || set.until > known.until) {
      if (sets.size >= MAX_SETS) sets.clear()
      sets.set(name, set)
    }
    return set
  }
}
