/** Whose share of the lookups is used. A request context is one. */
export interface LookupOwner {
  /** The tenant: an environment or, outside requests, another id of who configured the name. undefined: unknown. */
  readonly environment: { readonly id: string } | undefined
  readonly caller: { readonly keyId: string | null } | undefined
  readonly endUser: { readonly id: string } | undefined
}

/** Returns an owner outside requests, by an id that is his alone. */
export function toLookupOwner(id: string): LookupOwner {
  return { environment: { id }, caller: undefined, endUser: undefined }
}

/** Returns the id of an owner's tenant. */
export function toTenant({ environment }: LookupOwner): string {
  return environment?.id ?? ''
}

export interface SlotBounds {
  readonly total: number
  /** The bound while few slots are used. A tenant never gets more than an eighth of the free ones, but always one. */
  readonly perTenant: number
  readonly perCaller: number
  /** How many lookups of one tenant may wait for a slot. More get none at once. */
  readonly waitingPerTenant: number
}

interface Waiter {
  readonly tenant: string
  readonly caller: string
  readonly timer: NodeJS.Timeout
  give(hasSlot: boolean): void
}

/**
 * The lookups that may run at once, shared fairly: the more slots are used, the fewer a tenant may have, and a freed slot
 * goes to the waiting tenant that has the fewest. So hanging names of one tenant, or of many, neither use up all slots
 * nor stand in line before another's.
 */
export class LookupSlots {
  readonly #bounds: SlotBounds
  readonly #waiting = new Set<Waiter>()
  readonly #waitingOf = new Map<string, number>()
  readonly #runningOf = new Map<string, number>()
  #running = 0

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  /**
   * Resolves with true once the owner has a slot, which he must release; with false if he got none within `timeoutMs` or
   * too many lookups of his tenant wait already.
   */
  acquire(owner: LookupOwner, timeoutMs: number): Promise<boolean> {
    const tenant = toTenant(owner)
    const caller = toCallerKey(owner)
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
  release(owner: LookupOwner): void {
    this.#running--
    add(this.#runningOf, toTenant(owner), -1)
    add(this.#runningOf, toCallerKey(owner), -1)
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
    const { total, perTenant, perCaller } = this.#bounds
    return (
      this.#running < total &&
      countOf(this.#runningOf, tenant) < Math.min(perTenant, Math.max(1, (total - this.#running) / 8)) &&
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

/** Returns a key that no tenant and no other caller has: only the end user's id, its last part, may contain a space. */
function toCallerKey(owner: LookupOwner): string {
  return `${toTenant(owner)} ${owner.caller?.keyId ?? ''} ${owner.endUser?.id ?? ''}`
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
