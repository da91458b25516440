import { listMeters, type MeterSet } from '../../core/limits/list-meters.ts'
import type { Caller, EndUser, Environment } from '../../core/tenancy/tenancy.ts'

/** Meters cached for one environment, and for all together; one takes some 300 bytes. A set counts as ten at least. */
const MAX_METERS = 100_000
const MAX_METERS_OF_ALL = 500_000
const MIN_COUNTED = 10

/** The cached meters of one environment. */
interface CachedSets {
  readonly byCaller: Map<string, MeterSet>
  meters: number
}

/**
 * The meters of each caller, cached until a window ends or the environment's snapshot is replaced. A change of a policy
 * replaces the snapshot, so the cache is keyed by that object.
 */
export class MeterSets {
  #environments = new WeakMap<Environment, CachedSets>()
  /** Includes those of snapshots that were replaced. */
  #meters = 0

  /**
   * Returns the meters that limit a request. `at` is the request's arrival in Unix milliseconds; it selects the
   * calendar windows.
   */
  getMeters(environment: Environment, caller: Caller, endUser: EndUser | undefined, at: number): MeterSet {
    // Client tokens can name a plan, so the same end user may come with different plans.
    const { originalKeyId: keyId } = caller
    const name = endUser === undefined ? String(keyId) : JSON.stringify([keyId, endUser.id, endUser.plan])
    const known = this.#environments.get(environment)?.byCaller.get(name)
    if (known !== undefined && known.from <= at && at < known.until) return known
    const { id: environmentId, orgId, projectId, policies } = environment
    const set = listMeters(policies, { orgId, projectId, environmentId, keyId, endUser: endUser ?? null }, at)
    // A request that arrived before the window ended does not replace the newer set.
    if (known === undefined || set.until > known.until) this.#keep(environment, name, set)
    return set
  }

  #keep(environment: Environment, name: string, set: MeterSet): void {
    const count = Math.max(set.meters.length, MIN_COUNTED)
    if (this.#meters + count > MAX_METERS_OF_ALL) {
      this.#environments = new WeakMap()
      this.#meters = 0
    }
    let sets = this.#environments.get(environment)
    if (sets === undefined || sets.meters + count > MAX_METERS) {
      this.#meters -= sets?.meters ?? 0
      sets = { byCaller: new Map(), meters: 0 }
      this.#environments.set(environment, sets)
    }
    sets.byCaller.set(name, set)
    sets.meters += count
    this.#meters += count
  }
}
