/** Whom a connection serves. A request context is one. What is unknown counts as one further party. */
export interface ShareOwner {
  readonly environment: { readonly orgId: string; readonly id: string } | undefined
  /** `keyId` null: a member's own token. */
  readonly caller: { readonly keyId: string | null } | undefined
  readonly endUser: { readonly id: string } | undefined
}

/** What one party holds. Its fields belong to ConnectionShares. */
export class Share<W> {
  readonly parent: Share<W> | undefined
  readonly children = new Map<string, Share<W>>()
  /** Connections that it holds, those of all below it included. */
  used = 0
  /** The children below which somebody waits, in the order of their turns. */
  turns: Set<Share<W>> | undefined
  /** Who waits for a connection of this very share, first come, first served. */
  waiters: Set<W> | undefined

  constructor(parent: Share<W> | undefined) {
    this.parent = parent
  }
}

/** Shares of parties that hold nothing are kept up to this number, so that a call usually creates none. */
const KEPT_SHARES = 10_000

/**
 * Divides a number of connections among organizations, an organization's part among its environments, and so on to
 * credentials, end users and origins.
 *
 * Nobody can take a connection back while it is used, so what one party may hold depends on what is left: of `cap`
 * connections of which `free` are free, each party may hold 4 free² / cap. A party alone gets half of all, every further
 * one gets half of the rest or less, and the last ones go to those who hold few or none. This is a dynamic threshold
 * (Choudhury and Hahne, 1998) whose factor falls with what is free: with a fixed one, ten parties could take all.
 *
 * Waiters get their turns round robin at every level.
 */
export class ConnectionShares<W> {
  readonly #max: number
  readonly #root = new Share<W>(undefined)
  #known = 0
  #pruneAt = KEPT_SHARES

  constructor(max: number) {
    this.#max = max
  }

  /** Connections that are in use. */
  get used(): number {
    return this.#root.used
  }

  get hasWaiters(): boolean {
    return this.#root.turns !== undefined && this.#root.turns.size > 0
  }

  /** Returns the share of an owner's calls to one origin. It is valid until the next call of `find`, or while it is used. */
  find({ environment, caller, endUser }: ShareOwner, origin: string): Share<W> {
    if (this.#known >= this.#pruneAt) this.#prune()
    const organization = this.#childOf(this.#root, environment?.orgId ?? '')
    const own = this.#childOf(organization, environment?.id ?? '')
    const credential = this.#childOf(own, caller?.keyId ?? '')
    return this.#childOf(this.#childOf(credential, endUser?.id ?? ''), origin)
  }

  /** Counts one connection more and returns true, or returns false if the share may not hold another one now. */
  take(share: Share<W>): boolean {
    if (share.used >= this.#capOf(share)) return false
    add(share, 1)
    return true
  }

  /** Counts one connection less. Call `next` afterwards: somebody who waits may have it. */
  release(share: Share<W>): void {
    add(share, -1)
  }

  wait(share: Share<W>, waiter: W): void {
    share.waiters ??= new Set()
    share.waiters.add(waiter)
    for (let at = share, above = at.parent; above !== undefined; at = above, above = at.parent) {
      above.turns ??= new Set()
      if (above.turns.has(at)) return
      above.turns.add(at)
    }
  }

  /** Removes a waiter that no longer waits. */
  withdraw(share: Share<W>, waiter: W): void {
    if (share.waiters?.delete(waiter) !== true) return
    for (let at = share, above = at.parent; above !== undefined; at = above, above = at.parent) {
      if (hasWaiters(at)) return
      above.turns?.delete(at)
    }
  }

  /** Counts a connection for the waiter whose turn it is, and returns it. undefined: nobody who waits may have one now. */
  next(): W | undefined {
    return this.#nextBelow(this.#root, this.#max)
  }

  /** Removes and returns any waiter, without a connection. */
  evict(): W | undefined {
    let share = this.#root
    for (let first = firstOf(share.turns); first !== undefined; first = firstOf(share.turns)) share = first
    const waiter = firstOf(share.waiters)
    if (waiter !== undefined) this.withdraw(share, waiter)
    return waiter
  }

  #nextBelow(share: Share<W>, cap: number): W | undefined {
    if (share.used >= cap) return undefined
    const waiter = firstOf(share.waiters)
    if (waiter !== undefined) {
      this.withdraw(share, waiter)
      add(share, 1)
      return waiter
    }
    const { turns } = share
    if (turns === undefined) return undefined
    const childCap = capOfChildren(cap, share.used)
    for (const child of turns) {
      const found = this.#nextBelow(child, childCap)
      if (found === undefined) continue
      // Its next turn comes after everybody else's.
      if (turns.delete(child)) turns.add(child)
      return found
    }
    return undefined
  }

  #capOf({ parent }: Share<W>): number {
    return parent === undefined ? this.#max : capOfChildren(this.#capOf(parent), parent.used)
  }

  #childOf(share: Share<W>, name: string): Share<W> {
    const known = share.children.get(name)
    if (known !== undefined) return known
    const child = new Share(share)
    share.children.set(name, child)
    this.#known++
    return child
  }

  /** Forgets the shares of all parties that hold nothing and wait for nothing. */
  #prune(): void {
    this.#known = pruneBelow(this.#root)
    this.#pruneAt = Math.max(KEPT_SHARES, 2 * this.#known)
  }
}

/** Returns how many connections each child of a share may hold that may itself hold `cap` and holds `used`. */
function capOfChildren(cap: number, used: number): number {
  const free = cap - used
  return free <= 0 ? 0 : Math.min(cap, (4 * free * free) / cap)
}

function add<W>(share: Share<W>, count: 1 | -1): void {
  for (let at: Share<W> | undefined = share; at !== undefined; at = at.parent) at.used += count
}

function hasWaiters<W>({ waiters, turns }: Share<W>): boolean {
  return (waiters !== undefined && waiters.size > 0) || (turns !== undefined && turns.size > 0)
}

function firstOf<T>(set: Set<T> | undefined): T | undefined {
  return set === undefined || set.size === 0 ? undefined : set.values().next().value
}

/** Returns the number of shares that are left below this one. */
function pruneBelow<W>(share: Share<W>): number {
  let left = 0
  for (const [name, child] of share.children) {
    const below = pruneBelow(child)
    if (below > 0 || child.used > 0 || hasWaiters(child)) left += below + 1
    else share.children.delete(name)
  }
  return left
}
