/**
 * Shares a capacity among holders that form a tree: the process, organizations, environments, keys, end users. What a
 * holder may hold depends on what is still free (dynamic thresholds, Choudhury and Hahne 1998): one that is alone may
 * take most of it, and the busier the others are, the less it may take. A holder that holds much cannot take the last
 * part of its parent's limit, which is kept for holders that hold little.
 */

/** The part of a parent's limit that only children below their floor may take. */
const KEPT = 1 / 8
/** The part of its parent's limit that a child may always hold while the parent has room. */
const FLOOR = 1 / 1024

export class Share {
  held = 0
  /** What other processes of the machine hold of the whole capacity; only that of a share without parent counts. */
  elsewhere = 0
  /** undefined: the whole capacity. */
  readonly parent: Share | undefined
  /** The capacity of a share without parent. */
  readonly capacity: number
  /** How many times what is free the share may hold. */
  readonly factor: number
  /** The least floor of the share. */
  readonly least: number

  constructor(parent: Share | undefined, capacity: number, factor: number, least: number) {
    this.parent = parent
    this.capacity = capacity
    this.factor = factor
    this.least = least
  }
}

/** Returns the whole of a capacity. Each holder below it may always hold `least` while there is room. */
export function openCapacity(capacity: number, least: number): Share {
  return new Share(undefined, capacity, 1, least)
}

/** Returns the share of a child, which may hold `factor` times what is free of its parent's limit. */
export function openShare(parent: Share, factor: number): Share {
  return new Share(parent, parent.capacity, factor, parent.least)
}

/** Returns how much more may be held now; zero or less if nothing. */
export function roomOf(share: Share): number {
  const { parent, held } = share
  if (parent === undefined) return share.capacity - share.elsewhere - held
  const room = roomOf(parent)
  const limit = parent.held + room
  const floor = Math.max(share.least, limit * FLOOR)
  const own = Math.max(share.factor * (room - limit * KEPT), floor) - held
  return own < room ? own : room
}

/** Holds an amount, if the share and all above it have room for it. */
export function hold(share: Share, amount: number): boolean {
  if (roomOf(share) < amount) return false
  for (let at: Share | undefined = share; at !== undefined; at = at.parent) at.held += amount
  return true
}

export function giveBack(share: Share, amount: number): void {
  for (let at: Share | undefined = share; at !== undefined; at = at.parent) at.held -= amount
}
