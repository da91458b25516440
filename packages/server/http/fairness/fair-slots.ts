export interface SlotBounds {
  readonly total: number
  /** The bound while few slots are used. A tenant never gets more than a part of the free ones, but always one. */
  readonly perTenant: number
  readonly perCaller: number
  /** A tenant gets a slot while it has fewer than the free ones divided by this. Default: 8. */
  readonly divisor?: number
  /** The bound of all tenants of one organization together, of which it gets at most a quarter of the free slots. Default: none. */
  readonly perOrganization?: number
  /** How many calls of one organization may wait. Default: any number. */
  readonly waitingPerOrganization?: number
  /** How many calls of one tenant may wait for a slot. More get none at once. */
  readonly waitingPerTenant: number
}

/** An organization gets a slot while it has fewer than the free ones divided by this. */
const ORGANIZATION_DIVISOR = 4

interface Waiter {
  readonly organization: string
  readonly tenant: string
  readonly caller: string
  readonly timer: NodeJS.Timeout
  give(hasSlot: boolean): void
}

/**
 * What may run at once, shared fairly: the more slots are used, the fewer a tenant may have, and a freed slot goes to the
 * waiting tenant that has the fewest. So slow calls of one tenant, or of many, neither use up all slots nor stand in line
 * before another's.
 */
export class FairSlots {
  readonly #bounds: SlotBounds
  /** The waiters by organization. */
  readonly #waiting = new Map<string, Set<Waiter>>()
  readonly #waitingOf = new Map<string, number>()
  readonly #runningOf = new Map<string, number>()
  readonly #runningOfOrganization = new Map<string, number>()
  #running = 0

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  /**
   * Resolves with true once the caller has a slot, which it must release; with false if it got none within `timeoutMs` or
   * too many calls of its tenant or organization wait already. The keys of tenants and of callers must differ.
   */
  acquire(tenant: string, caller: string, timeoutMs: number, organization = tenant): Promise<boolean> {
    if (this.#canRun(tenant, caller, organization)) {
      this.#start(tenant, caller, organization)
      return Promise.resolve(true)
    }
    const { waitingPerTenant, waitingPerOrganization = Number.POSITIVE_INFINITY } = this.#bounds
    const others = this.#waiting.get(organization) ?? new Set<Waiter>()
    if (countOf(this.#waitingOf, tenant) >= waitingPerTenant || others.size >= waitingPerOrganization)
      return Promise.resolve(false)
    return new Promise(give => {
      const timer = setTimeout(() => {
        this.#stopWaiting(waiter)
        give(false)
      }, timeoutMs)
      const waiter: Waiter = { organization, tenant, caller, timer, give }
      this.#waiting.set(organization, others.add(waiter))
      add(this.#waitingOf, tenant, 1)
    })
  }

  /** Gives a slot back. */
  release(tenant: string, caller: string, organization = tenant): void {
    this.#running--
    add(this.#runningOf, tenant, -1)
    add(this.#runningOf, caller, -1)
    add(this.#runningOfOrganization, organization, -1)
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      this.#stopWaiting(next)
      this.#start(next.tenant, next.caller, next.organization)
      next.give(true)
    }
  }

  /** Looks only at the waiters of organizations that may have a slot, and have fewer than the best so far. */
  #findNext(): Waiter | undefined {
    if (this.#running >= this.#bounds.total) return undefined
    let best: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const [organization, waiters] of this.#waiting) {
      const running = countOf(this.#runningOfOrganization, organization)
      if (running >= fewest || !this.#mayHaveMore(organization)) continue
      const found = this.#findOf(waiters)
      if (found === undefined) continue
      best = found
      fewest = running
    }
    return best
  }

  #findOf(waiters: ReadonlySet<Waiter>): Waiter | undefined {
    let best: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const waiter of waiters) {
      const running = countOf(this.#runningOf, waiter.tenant)
      if (running >= fewest || !this.#canRun(waiter.tenant, waiter.caller, waiter.organization)) continue
      best = waiter
      fewest = running
    }
    return best
  }

  #canRun(tenant: string, caller: string, organization: string): boolean {
    const { total, perTenant, perCaller, divisor = 8 } = this.#bounds
    return (
      this.#running < total &&
      this.#mayHaveMore(organization) &&
      countOf(this.#runningOf, tenant) <
        Math.min(perTenant, Math.max(1, (total - this.#running) / divisor)) &&
      countOf(this.#runningOf, caller) < perCaller
    )
  }

  #mayHaveMore(organization: string): boolean {
    const { total, perOrganization } = this.#bounds
    if (perOrganization === undefined) return true
    const part = Math.max(1, (total - this.#running) / ORGANIZATION_DIVISOR)
    return countOf(this.#runningOfOrganization, organization) < Math.min(perOrganization, part)
  }

  #start(tenant: string, caller: string, organization: string): void {
    this.#running++
    add(this.#runningOf, tenant, 1)
    add(this.#runningOf, caller, 1)
    add(this.#runningOfOrganization, organization, 1)
  }

  #stopWaiting(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    const waiters = this.#waiting.get(waiter.organization)
    if (waiters?.delete(waiter) === true && waiters.size === 0) this.#waiting.delete(waiter.organization)
    add(this.#waitingOf, waiter.tenant, -1)
  }
}

function countOf(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0
}

/** Entries that reach zero are removed, so that the map holds only who is active. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const count = countOf(counts, key) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
