/**
 * Shares a capacity among consumers that form a tree: the process, organizations, environments, keys, end users. What a
 * consumer may use depends on what is still free (dynamic thresholds, Choudhury and Hahne 1998): one that is alone may
 * take most of it, and the busier the others are, the less it may take. A consumer that uses much cannot take the last
 * part of its parent's limit, which is reserved for consumers that use little.
 */

/** The part of a parent's limit that only children below their floor may take. */
const RESERVED_PART = 1 / 8
/** The part of its parent's limit that a child may always use while the parent has room. */
const FLOOR = 1 / 1024

export class CapacityShare {
  used = 0
  /** What other processes of the machine use of the whole capacity; only that of a share without parent counts. */
  elsewhere = 0
  /** undefined: the whole capacity. */
  readonly parent: CapacityShare | undefined
  /** The capacity of a share without parent. */
  readonly capacity: number
  /** How many times what is free the share may use. */
  readonly factor: number
  /** The least floor of the share. */
  readonly least: number

  constructor(parent: CapacityShare | undefined, capacity: number, factor: number, least: number) {
    this.parent = parent
    this.capacity = capacity
    this.factor = factor
    this.least = least
  }
}

/** Returns the whole of a capacity. Each share below it may always use `least` while there is room. */
export function openCapacity(capacity: number, least: number): CapacityShare {
  return new CapacityShare(undefined, capacity, 1, least)
}

/** Returns the share of a child, which may use `factor` times what is free of its parent's limit. */
export function openShare(parent: CapacityShare, factor: number): CapacityShare {
  return new CapacityShare(parent, parent.capacity, factor, parent.least)
}

/** Returns how much more the share may use now; zero or less: nothing. */
export function roomOf(share: CapacityShare): number {
  const { parent, used } = share
  if (parent === undefined) return share.capacity - share.elsewhere - used
  const room = roomOf(parent)
  const limit = parent.used + room
  const floor = Math.max(share.least, limit * FLOOR)
  const own = Math.max(share.factor * (room - limit * RESERVED_PART), floor) - used
  return own < room ? own : room
}

/** Takes an amount and returns true, if the share and all above it have room for it. */
export function acquire(share: CapacityShare, amount: number): boolean {
  if (roomOf(share) < amount) return false
  for (let at: CapacityShare | undefined = share; at !== undefined; at = at.parent) at.used += amount
  return true
}

export function release(share: CapacityShare, amount: number): void {
  for (let at: CapacityShare | undefined = share; at !== undefined; at = at.parent) at.used -= amount
}
