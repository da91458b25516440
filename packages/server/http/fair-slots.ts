export interface SlotBounds {
  readonly total: number
  /** The bound while few slots are used. A tenant never gets more than a part of the free ones, but always one. */
  readonly perTenant: number
  readonly perCaller: number
  /** A tenant gets a slot while it has fewer than the free ones divided by this. Default: 8. */
  readonly divisor?: number
  /** How many calls of one tenant may wait for a slot. More get none at once. */
  readonly waitingPerTenant: number
}

interface Waiter {
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
  readonly #waiting = new Set<Waiter>()
  readonly #waitingOf = new Map<string, number>()
  readonly #runningOf = new Map<string, number>()
  #running = 0

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  /**
   * Resolves with true once the caller has a slot, which it must release; with false if it got none within `timeoutMs` or
   * too many calls of its tenant wait already. The keys of tenants and of callers must differ.
   */
  acquire(tenant: string, caller: string, timeoutMs: number): Promise<boolean> {
    if (this.#canRun(tenant, caller)) {
      this.#start(tenant, caller)
      return Promise.resolve(true)
    }
    if (countOf(this.#waitingOf, tenant) >= this.#bounds.waitingPerTenant) return Promise.resolve(false)
    return new Promise(give => {
      const timer = setTimeout(() => {
        this.#stopWaiting(waiter)
        give(false)
      }, timeoutMs)
      const waiter: Waiter = { tenant, caller, timer, give }
      this.#waiting.add(waiter)
      add(this.#waitingOf, tenant, 1)
    })
  }

  /** Gives a slot back. */
  release(tenant: string, caller: string): void {
    this.#running--
    add(this.#runningOf, tenant, -1)
    add(this.#runningOf, caller, -1)
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      this.#stopWaiting(next)
      this.#start(next.tenant, next.caller)
      next.give(true)
    }
  }

  #findNext(): Waiter | undefined {
    let best: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const waiter of this.#waiting) {
      const running = countOf(this.#runningOf, waiter.tenant)
      if (running >= fewest || !this.#canRun(waiter.tenant, waiter.caller)) continue
      best = waiter
      fewest = running
    }
    return best
  }

  #canRun(tenant: string, caller: string): boolean {
    const { total, perTenant, perCaller, divisor = 8 } = this.#bounds
    return (
      this.#running < total &&
      countOf(this.#runningOf, tenant) <
        Math.min(perTenant, Math.max(1, (total - this.#running) / divisor)) &&
      countOf(this.#runningOf, caller) < perCaller
    )
  }

  #start(tenant: string, caller: string): void {
    this.#running++
    add(this.#runningOf, tenant, 1)
    add(this.#runningOf, caller, 1)
  }

  #stopWaiting(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    this.#waiting.delete(waiter)
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
