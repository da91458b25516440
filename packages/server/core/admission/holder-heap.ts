/** An owner of entries of a FairCache. */
export class Holder {
  readonly owner: string
  /** The keys that it holds. Those that were used least recently come first. */
  readonly keys = new Set<string>()
  /** The number of its last use among the uses of all owners. */
  usedAt = 0
  /** Belongs to HolderHeap. */
  place = -1

  constructor(owner: string) {
    this.owner = owner
  }
}

/**
 * A binary heap of owners. The first holds the most keys, and of those that hold as many it was used least recently. Each operation
 * takes time that grows with the logarithm of the number of owners.
 */
export class HolderHeap {
  readonly #holders: Holder[] = []

  get first(): Holder | undefined {
    return this.#holders[0]
  }

  /** Adds an owner, or moves it after its keys or its last use have changed. */
  put(holder: Holder): void {
    if (this.#holders[holder.place] !== holder) holder.place = this.#holders.length
    this.#moveDown(holder, this.#moveUp(holder))
  }

  remove(holder: Holder): void {
    const last = this.#holders.pop()
    if (last === undefined || last === holder) return
    last.place = holder.place
    this.#holders[last.place] = last
    this.put(last)
  }

  clear(): void {
    this.#holders.length = 0
  }

  /** Returns the place to which the owner belongs among those above it. */
  #moveUp(holder: Holder): number {
    let place = holder.place
    while (place > 0) {
      const above = this.#holders[(place - 1) >> 1] as Holder
      if (!comesBefore(holder, above)) break
      this.#set(above, place)
      place = (place - 1) >> 1
    }
    return place
  }

  #moveDown(holder: Holder, from: number): void {
    let place = from
    for (;;) {
      const next = this.#firstBelow(place)
      if (next === undefined || !comesBefore(next, holder)) break
      const { place: nextPlace } = next
      this.#set(next, place)
      place = nextPlace
    }
    this.#set(holder, place)
  }

  #firstBelow(place: number): Holder | undefined {
    const left = this.#holders[2 * place + 1]
    const right = this.#holders[2 * place + 2]
    return left !== undefined && right !== undefined && comesBefore(right, left) ? right : left
  }

  #set(holder: Holder, place: number): void {
    this.#holders[place] = holder
    holder.place = place
  }
}

function comesBefore(one: Holder, other: Holder): boolean {
  return one.keys.size === other.keys.size ? one.usedAt < other.usedAt : one.keys.size > other.keys.size
}
