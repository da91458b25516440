/** Who calls: a key, or an end user with a client token. */
export interface CallerId {
  /** null: a member's own token. */
  readonly keyId: string | null
  /** The end user of a client token. Absent or null: a key, whose requests may each name an end user. */
  readonly endUser?: { readonly id: string } | null
}

/** Whom a connection serves. A request context is one. What is unknown counts as one further party. */
export interface ShareOwner {
  readonly environment: { readonly orgId: string; readonly id: string } | undefined
  readonly caller: CallerId | undefined
  readonly endUser: { readonly id: string } | undefined
}

/** What one party holds. Its fields belong to ConnectionShares. */
export class ConnectionShare<W> {
  readonly parent: ConnectionShare<W> | undefined
  /** How much of what its siblings leave it may hold, from 0 to 1. */
  readonly part: number
  readonly children = new Map<string, ConnectionShare<W>>()
  /** Connections that it holds, those of all below it included. */
  used = 0
  /** The shares below this one that have waiters, in the order of their turns. */
  turns: Set<ConnectionShare<W>> | undefined
  /** Who waits for a connection of this very share, first come, first served. */
  waiters: Set<W> | undefined

  constructor(parent: ConnectionShare<W> | undefined, part: number) {
    this.parent = parent
    this.part = part
  }
}

/** The part of what the others leave that one organization may hold, one environment of its part, and so on. */
const ORGANIZATION = 1 / 2
const ENVIRONMENT = 3 / 4
const CREDENTIAL = 5 / 8
const END_USER = 1 / 4
/** The calls of a credential that name no end user. */
const NO_END_USER = 3 / 4
/** A provider that hangs leaves its callers connections to others. */
const ORIGIN = 3 / 4

/** Below this part of what there is, parties may hold fewer, and the last ones go to those that hold few or none. */
const SCARCE = 1 / 4

/** Shares of parties that hold nothing are kept up to this number, so that a call usually creates none. */
const KEPT_SHARES = 10_000

/**
 * Divides a number of connections among organizations, an organization's part among its environments, and so on to
 * credentials, end users and origins.
 *
 * A connection in use cannot be taken back, so what one party may hold depends on what its siblings leave of their
 * parent's part, as a dynamic threshold (Choudhury and Hahne, 1998). A party alone gets a fixed part of all, the next
 * ones that part of the rest, so that no party can hold all, and a party that holds none finds one.
 *
 * Waiters get their turns round robin at every level.
 */
export class ConnectionShares<W> {
  readonly #max: number
  readonly #root = new ConnectionShare<W>(undefined, 1)
  /** The shares of keys, so that a call looks for one of them instead of three. A key is of one environment. */
  readonly #credentials = new Map<string, ConnectionShare<W>>()
  /** With fewer connections in use every share may hold one more: this is less than any part of what is left. */
  readonly #plenty: number
  #known = 0
  #pruneAt = KEPT_SHARES

  constructor(max: number) {
    this.#max = max
    this.#plenty = max / 32
  }

  /** Connections that are in use. */
  get used(): number {
    return this.#root.used
  }

  get hasWaiters(): boolean {
    return this.#root.turns !== undefined && this.#root.turns.size > 0
  }

  /**
   * Returns the share of an owner's calls to one origin, and creates it if need be. It is valid until the next call, or while it
   * is used.
   */
  openShare({ environment, caller, endUser }: ShareOwner, origin: string): ConnectionShare<W> {
    if (this.#known >= this.#pruneAt) this.#prune()
    const keyId = caller?.keyId ?? ''
    const credential = this.#credentials.get(keyId) ?? this.#openCredential(environment, keyId)
    const share =
      endUser === undefined
        ? this.#openChild(credential, '', NO_END_USER)
        : this.#openChild(credential, endUser.id, END_USER)
    return this.#openChild(share, origin, ORIGIN)
  }

  #openCredential(environment: ShareOwner['environment'], keyId: string): ConnectionShare<W> {
    const organization = this.#openChild(this.#root, environment?.orgId ?? '', ORGANIZATION)
    const own = this.#openChild(organization, environment?.id ?? '', ENVIRONMENT)
    const share = this.#openChild(own, keyId, CREDENTIAL)
    // Every environment may have members without a key.
    if (keyId !== '') this.#credentials.set(keyId, share)
    return share
  }

  /** Counts one connection more and returns true, or returns false if the share may not hold another one now. */
  take(share: ConnectionShare<W>): boolean {
    if (this.#root.used >= this.#plenty && this.#capOf(share) === 0) return false
    add(share, 1)
    return true
  }

  /** Counts one connection less. Call `next` afterwards: a waiter may have it. */
  release(share: ConnectionShare<W>): void {
    add(share, -1)
  }

  wait(share: ConnectionShare<W>, waiter: W): void {
    share.waiters ??= new Set()
    share.waiters.add(waiter)
    for (let at = share, above = at.parent; above !== undefined; at = above, above = at.parent) {
      above.turns ??= new Set()
      if (above.turns.has(at)) return
      above.turns.add(at)
    }
  }

  /** Removes a waiter that no longer waits. */
  withdraw(share: ConnectionShare<W>, waiter: W): void {
    if (share.waiters?.delete(waiter) !== true) return
    for (let at = share, above = at.parent; above !== undefined; at = above, above = at.parent) {
      if (hasWaiters(at)) return
      above.turns?.delete(at)
    }
  }

  /** Counts a connection for the waiter whose turn it is, and returns it. undefined: no waiter may have one now. */
  next(): W | undefined {
    return this.#nextBelow(this.#root, this.#capOf(this.#root))
  }

  /** Removes and returns any waiter, without a connection. */
  evict(): W | undefined {
    let share = this.#root
    for (let first = firstOf(share.turns); first !== undefined; first = firstOf(share.turns)) share = first
    const waiter = firstOf(share.waiters)
    if (waiter !== undefined) this.withdraw(share, waiter)
    return waiter
  }

  /** `cap`: how many the share may hold, 0 if it holds them. */
  #nextBelow(share: ConnectionShare<W>, cap: number): W | undefined {
    if (cap === 0) return undefined
    const waiter = firstOf(share.waiters)
    if (waiter !== undefined) {
      this.withdraw(share, waiter)
      add(share, 1)
      return waiter
    }
    const { turns } = share
    if (turns === undefined) return undefined
    for (const child of turns) {
      const found = this.#nextBelow(child, capBelow(cap, share, child))
      if (found === undefined) continue
      // Its next turn comes after all others.
      if (turns.delete(child)) turns.add(child)
      return found
    }
    return undefined
  }

  /** Returns how many connections a share may hold, or 0 if it, or a share above it, holds as many already. */
  #capOf(share: ConnectionShare<W>): number {
    const { parent } = share
    if (parent === undefined) return share.used < this.#max ? this.#max : 0
    return capBelow(this.#capOf(parent), parent, share)
  }

  #openChild(parent: ConnectionShare<W>, name: string, part: number): ConnectionShare<W> {
    const known = parent.children.get(name)
    if (known !== undefined) return known
    const share = new ConnectionShare(parent, part)
    parent.children.set(name, share)
    this.#known++
    return share
  }

  /** Forgets the shares of all parties that hold nothing and wait for nothing. */
  #prune(): void {
    this.#credentials.clear()
    this.#known = pruneBelow(this.#root)
    this.#pruneAt = Math.max(KEPT_SHARES, 2 * this.#known)
  }
}

/** Returns how many connections a share may hold whose parent may hold `cap`, or 0 if it holds as many already. */
function capBelow<W>(cap: number, parent: ConnectionShare<W>, share: ConnectionShare<W>): number {
  if (cap === 0) return 0
  const available = cap - parent.used + share.used
  const ownPart = share.part * available * Math.min(1, available / (SCARCE * cap))
  return share.used < ownPart ? ownPart : 0
}

function add<W>(share: ConnectionShare<W>, count: 1 | -1): void {
  for (let at: ConnectionShare<W> | undefined = share; at !== undefined; at = at.parent) at.used += count
}

function hasWaiters<W>({ waiters, turns }: ConnectionShare<W>): boolean {
  return (waiters !== undefined && waiters.size > 0) || (turns !== undefined && turns.size > 0)
}

function firstOf<T>(set: Set<T> | undefined): T | undefined {
  return set === undefined || set.size === 0 ? undefined : set.values().next().value
}

/** Returns the number of shares that are left below this one. */
function pruneBelow<W>({ children }: ConnectionShare<W>): number {
  let count = 0
  for (const [name, share] of children) {
    const below = pruneBelow(share)
    if (below > 0 || share.used > 0 || hasWaiters(share)) count += below + 1
    else children.delete(name)
  }
  return count
}
