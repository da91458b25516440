export interface SlotBounds {
  readonly total: number
  /** The bound while few slots are used. A tenant never gets more than a part of the free ones, but always one. */
  readonly perTenant: number
  readonly perCaller: number
  /** A tenant gets a slot while it has fewer than the free ones divided by this. Default: 8. */
  readonly divisor?: number
  /** The bound of all tenants of one organization together, of which it gets at most a quarter of the free slots. Default: none. */
  readonly perOrganization?: number | undefined
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

/** The waiters of an organization by tenant. Whose turn comes first stands first. */
type TenantLines = Map<string, Set<Waiter>>

/**
 * What may run at once, shared fairly: the more slots are used, the fewer a tenant may have, and a freed slot goes to the
 * waiting organization that has the fewest, of it to the tenant that has the fewest, and among equals to those whose last turn is
 * longest ago. So slow calls of one tenant, or of many, neither use up all slots nor stand in line before another's.
 */
export class FairSlots {
  readonly #bounds: SlotBounds
  /** The waiters by organization. Whose turn comes first stands first. */
  readonly #waiting = new Map<string, TenantLines>()
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
    const lines = this.#waiting.get(organization) ?? (new Map() as TenantLines)
    const line = lines.get(tenant) ?? new Set<Waiter>()
    if (line.size >= waitingPerTenant || countWaiters(lines) >= waitingPerOrganization)
      return Promise.resolve(false)
    return new Promise(give => {
      const timer = setTimeout(() => {
        this.#stopWaiting(waiter)
        give(false)
      }, timeoutMs)
      const waiter: Waiter = { organization, tenant, caller, timer, give }
      this.#waiting.set(organization, lines.set(tenant, line.add(waiter)))
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
      this.#moveLast(next)
      this.#start(next.tenant, next.caller, next.organization)
      next.give(true)
    }
  }

  /** Looks only at the waiters of organizations that may have a slot, and have fewer than the best so far. */
  #findNext(): Waiter | undefined {
    if (this.#running >= this.#bounds.total) return undefined
    let best: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const [organization, lines] of this.#waiting) {
      const running = countOf(this.#runningOfOrganization, organization)
      if (running >= fewest || !this.#mayHaveMore(organization)) continue
      const found = this.#findOf(lines)
      if (found === undefined) continue
      best = found
      fewest = running
    }
    return best
  }

  #findOf(lines: TenantLines): Waiter | undefined {
    let best: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const [tenant, line] of lines) {
      const running = countOf(this.#runningOf, tenant)
      if (running >= fewest) continue
      const found = this.#findFirst(line)
      if (found === undefined) continue
      best = found
      fewest = running
    }
    return best
  }

  #findFirst(line: ReadonlySet<Waiter>): Waiter | undefined {
    for (const waiter of line)
      if (this.#canRun(waiter.tenant, waiter.caller, waiter.organization)) return waiter
    return undefined
  }

  /** Puts who has just had a turn behind the others. With few slots all have as many at most moments, so that the first would always win. */
  #moveLast({ organization, tenant }: Waiter): void {
    const lines = this.#waiting.get(organization)
    if (lines === undefined) return
    this.#waiting.delete(organization)
    this.#waiting.set(organization, lines)
    const line = lines.get(tenant)
    if (line === undefined) return
    lines.delete(tenant)
    lines.set(tenant, line)
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
    const { organization, tenant } = waiter
    const lines = this.#waiting.get(organization)
    const line = lines?.get(tenant)
    if (lines === undefined || line?.delete(waiter) !== true || line.size > 0) return
    lines.delete(tenant)
    if (lines.size === 0) this.#waiting.delete(organization)
  }
}

function countOf(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0
}

function countWaiters(lines: TenantLines): number {
  let count = 0
  for (const line of lines.values()) count += line.size
  return count
}

/** Entries that reach zero are removed, so that the map holds only who is active. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const count = countOf(counts, key) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
